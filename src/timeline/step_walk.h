// StepWalk: the steps that a question about a range finds, one by one, in either direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tracewell::timeline {

/// To ask a timeline for one step after the other costs each time as much as the range has
/// addresses. So only the first step is asked for alone; those behind it come by stretches of the
/// trace, each longer than the one before.
class StepWalk {
 public:
  using Found = std::optional<uint64_t>;
  /// A Timeline's answers about a range; all three are about the same steps.
  struct Question {
    std::function<Found(uint64_t from)> next;
    std::function<Found(uint64_t before)> last;
    std::function<std::vector<uint64_t>(uint64_t from, uint64_t end)> all;  // ascending
  };

  /// Steps from `from` to before `end`.
  StepWalk(Question question, uint64_t from, uint64_t end, bool backward)
      : question_(std::move(question)), from_(from), end_(end), backward_(backward) {}

  /// The next one, or none.
  Found next();

 private:
  static constexpr uint64_t kStretch = 1024, kStretchMax = uint64_t{1} << 22, kGrowth = 8;
  Found alone();
  void read_stretch();

  Question question_;
  uint64_t from_, end_;  // of what is not read yet
  bool backward_;
  bool begun_ = false;
  uint64_t stretch_ = kStretch;
  std::vector<uint64_t> read_;  // those that come first are last
};

}  // namespace tracewell::timeline
