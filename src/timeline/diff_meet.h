// Two runs have parted: where do they meet again?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "timeline/diff_bases.h"
#include "timeline/diff_flow.h"

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
};

/// What can be seen of both runs from where they part.
struct Parting {
  const Place* last_a = nullptr;  // the last steps that were the same; nullptr = there is none
  const Place* last_b = nullptr;
  std::span<const Place> a, b;
  bool all_a = false, all_b = false;  // the spans reach to the end of the thread
  uint32_t address_bytes = 8;
};

/// One run stays in a loop whose exit the other has taken, and comes to that exit.
std::optional<Meeting> find_loop_exit(const Bases& bases, const Parting& parting);

/// The same places in the same order in both, behind as few steps as possible.
std::optional<Meeting> find_anchor(const Bases& bases, const Parting& parting);

}  // namespace tracewell::timeline
