// A sparse index over the frames of a trace file: every kStride-th frame has a checkpoint, which
// says where it is and what the frames from it to the next can hold at most. A frame costs a
// quarter of a byte, so that files with a hundred million frames open in little memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "base/files/file.h"
#include "formats/tfile/frames.h"
#include "model/problem.h"

namespace tracewell::formats {

class TfileIndex {
 public:
  static constexpr uint64_t kStride = 128;

  /// Walks all frames once, down to their blocks, and tells what is wrong with them.
  void build(const TfileFrames& frames, const InputFile& input, ProblemLog& problems,
             const std::function<void(uint64_t)>& progress);

  uint64_t count() const { return count_; }
  /// Behind the last whole frame: where the terminator should be.
  uint64_t end() const { return end_; }

  /// `seq` < count(). nullopt only when the file was cut after it was opened.
  std::optional<TfileFrames::Place> place(const TfileFrames& frames, uint64_t seq) const;
  std::optional<uint64_t> find_tracepoint(const TfileFrames& frames, uint64_t from,
                                          int32_t tracepoint) const;
  /// First frame from `from` on whose pc is in lo..hi, or (`outside`) has one that is not.
  std::optional<uint64_t> find_pc(const TfileFrames& frames, uint64_t from, uint64_t lo,
                                  uint64_t hi, bool outside) const;

 private:
  struct Checkpoint {
    uint64_t offset = 0;
    uint64_t pc_min = UINT64_MAX;  // min > max: no frame has a pc
    uint64_t pc_max = 0;
    uint64_t tracepoints = 0;  // bit n % 64 for each number n
  };
  template <class MayHold, class Matches>
  std::optional<uint64_t> search(const TfileFrames& frames, uint64_t from, MayHold&& may_hold,
                                 Matches&& matches) const;
  void note(uint64_t offset, int16_t tracepoint, std::optional<uint64_t> pc);

  std::deque<Checkpoint> checkpoints_;  // grows without copying
  uint64_t count_ = 0;
  uint64_t end_ = 0;
};

}  // namespace tracewell::formats
