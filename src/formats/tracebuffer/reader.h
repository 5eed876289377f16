// Reads the file of a trace buffer of version 1.
#pragma once

#include <memory>
#include <vector>

#include "formats/tracebuffer/frames.h"
#include "formats/tracebuffer/source.h"

namespace tracewell::formats {

/// The frames of a buffer that an earlier version left behind, as events in the order of its index.
/// What is damaged is a located problem, and the frames around it stay. One thread.
class TracebufferReader final : public TracebufferSource {
 public:
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file, bool in_use,
                                              const OpenOptions& options, ProblemLog& problems);

  Result<bool> next(Batch& batch) override;
  std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const override;
  std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const override;
  std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo, uint64_t hi) const override;

 private:
  /// Frames without a gap: event `seq` and those behind it are frame `number` and those behind it.
  struct Run {
    uint64_t seq = 0;
    uint64_t number = 0;
  };
  TracebufferReader(std::shared_ptr<InputFile> file, TracebufferFrames frames, bool in_use,
                    ProblemLog& problems)
      : TracebufferSource(std::move(file), in_use, problems), frames_(std::move(frames)) {}
  uint64_t skip_cut_off(uint64_t number);
  void look_at_frames(const OpenOptions& options);
  void look_at_blocks(uint64_t number, const TracebufferFrames::FrameRecord& record);
  uint64_t number_of(uint64_t seq) const;
  void add_event(Batch& batch);
  template <class Matches>
  std::optional<uint64_t> search(uint64_t from, Matches&& matches) const;

  TracebufferFrames frames_;
  std::vector<Run> runs_;
  std::vector<uint8_t> data_;
};

}  // namespace tracewell::formats
