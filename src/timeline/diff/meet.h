// Two runs have parted: where do they meet again?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "machine/control_flow.h"
#include "timeline/diff/bases.h"
#include "timeline/diff/flow.h"

namespace tracewell::timeline {

/// A loop that one run has left while the other went on in it. Addresses are of the run that has
/// the extra rounds.
struct ExtraRounds {
  bool in_a = false;
  uint64_t head = 0;   // where a round begins
  uint64_t latch = 0;  // from where it goes back there
  bool tests_first = false;  // the round begins with the test: head is reached once more
};

/// Steps until then, in each run.
struct Meeting {
  size_t a = 0, b = 0;
  std::optional<ExtraRounds> loop;
  /// Of a loop that went on for longer than Parting shows: where the run that stayed in it comes
  /// to the exit, and the number of its last step before.
  std::optional<Place> far;
  uint64_t far_last = 0;
};

/// What can be seen of both runs from where they part.
struct Parting {
  const Place* last_a = nullptr;  // the last steps that were the same; nullptr = there is none
  const Place* last_b = nullptr;
  std::span<const Place> a, b;
  bool all_a = false, all_b = false;  // the spans reach to the end of the thread
  uint32_t address_bytes = 8;
};

/// Follows a run that stays in a loop until it comes to the exit that the other has taken.
class LoopExit {
 public:
  /// The step `last` went into a loop with this run, and to `leaves` with the other one, which is A
  /// or B. `bases` must outlive this.
  LoopExit(const Bases& bases, const Place& last, const Place& leaves, bool other_is_a,
           uint32_t address_bytes);

  /// The run's next places. False when there is no more to look for.
  bool look_at(std::span<const Place> places);
  bool in_loop() const { return loop_.has_value(); }
  /// Steps until the exit, and the loop that it is of. None: it was not come to.
  std::optional<uint64_t> steps() const { return found_ ? std::optional(count_) : std::nullopt; }
  const std::optional<ExtraRounds>& loop() const { return loop_; }
  const Place& exit() const { return exit_; }
  uint64_t last_in_loop() const { return before_.seq; }

 private:
  bool same_place(const Place& now) const;

  const Bases& bases_;
  Place last_, leaves_;
  bool other_is_a_;
  machine::FlowDecoder decoder_;
  std::optional<ExtraRounds> loop_;
  Place before_, exit_;
  uint64_t count_ = 0;
  bool found_ = false;
};

/// One run stays in a loop whose exit the other has taken, and comes to that exit.
std::optional<Meeting> find_loop_exit(const Bases& bases, const Parting& parting);

/// The same places in the same order in both, behind as few steps as possible.
std::optional<Meeting> find_anchor(const Bases& bases, const Parting& parting);

}  // namespace tracewell::timeline
