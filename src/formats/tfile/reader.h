// Reads GDB trace files: `target tfile` without its limits.
#pragma once

#include <memory>
#include <vector>

#include "formats/format.h"
#include "formats/tfile/frames.h"
#include "formats/tfile/index.h"

namespace tracewell::formats {

/// Event n is frame n. Searches go by the program counter that the frame itself recorded.
class TfileReader final : public Source, public FrameIndex, public Summary {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file,
                                              const OpenOptions& options, ProblemLog& problems);

  const Catalog& catalog() const override { return catalog_; }
  const Summary* summary() const override { return this; }
  Result<bool> next(Batch& batch) override;
  Seekable* seekable() override { return this; }
  FrameIndex* frames() override { return this; }

  uint64_t count() const override { return index_.count(); }
  Status seek(uint64_t seq) override;
  std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const override;
  std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  uint64_t thread_count() const override;

 private:
  TfileReader(std::shared_ptr<InputFile> file, ProblemLog& problems)
      : file_(std::move(file)), problems_(problems) {}
  Status read_description(const OpenOptions& options);
  void settle(struct TfileDescription& description, const OpenOptions& options);
  void take_trailer();
  void look_behind_the_end();
  void add_frame(Batch& batch, const TfileFrames::Place& place);

  std::shared_ptr<InputFile> file_;
  ProblemLog& problems_;
  Catalog catalog_;
  TfileFrames frames_;
  TfileIndex index_;
  uint64_t next_seq_ = 0;
  size_t batch_frames_ = 64;  // of the next batch: few after a jump, then twice as many each time
  std::optional<uint64_t> next_offset_;  // of that frame, when it is known
  uint64_t forgotten_ = 0;
  std::vector<FrameBlock> blocks_;  // of the frame being read
};

}  // namespace tracewell::formats
