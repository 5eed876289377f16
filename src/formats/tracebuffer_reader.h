// Reads the file of a live trace buffer.
#pragma once

#include <memory>
#include <vector>

#include "formats/format.h"
#include "formats/tracebuffer_frames.h"

namespace tracewell::formats {

/// Event n is the n-th frame that can be read. What is damaged is told when the file is opened.
class TracebufferReader final : public Source, public FrameIndex, public Summarised {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file,
                                              const OpenOptions& options, ProblemLog& problems);

  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override;
  Seekable* seekable() override { return this; }
  FrameIndex* frames() override { return this; }

  uint64_t count() const override { return count_; }
  Status seek(uint64_t seq) override;
  std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const override;
  std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  uint64_t thread_count() const override { return threads_; }

 private:
  /// Frames without a gap: event `seq` and those behind it are frame `number` and those behind it.
  struct Run {
    uint64_t seq = 0;
    uint64_t number = 0;
  };
  TracebufferReader(std::shared_ptr<InputFile> file, TracebufferFrames frames,
                    ProblemLog& problems)
      : file_(std::move(file)), frames_(std::move(frames)), problems_(problems) {}
  void read_description();
  void finish_status();
  uint64_t skip_cut_off(uint64_t number);
  void look_at_frames(const OpenOptions& options);
  void look_at_blocks(uint64_t number, const ring::FrameRecord& record);
  uint64_t number_of(uint64_t seq) const;
  void add_event(Batch& batch);
  template <class Matches>
  std::optional<uint64_t> search(uint64_t from, Matches&& matches) const;

  std::shared_ptr<InputFile> file_;
  TracebufferFrames frames_;
  ProblemLog& problems_;
  Catalog catalog_;
  bool in_use_ = false;
  std::vector<Run> runs_;
  uint64_t count_ = 0;
  uint64_t kept_bytes_ = 0;  // of the frames that are there
  uint64_t threads_ = 0;
  uint64_t next_ = 0;
  std::vector<uint8_t> data_;
  std::vector<FrameBlock> blocks_;
};

}  // namespace tracewell::formats
