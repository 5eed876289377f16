// Where a trace lacks steps: what is behind such a hole may have come to pass in either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/stream.h"
#include "timeline/diff.h"
#include "timeline/diff_flow.h"

namespace tracewell::timeline {

/// What is missing in `steps` behind step `after` (none: from the beginning on) and in front of
/// step `to` (none: up to the trace's end), all of it counted; none = nothing is.
Result<std::optional<Hole>> find_hole(const StepIndex& steps, std::optional<uint64_t> after,
                                      std::optional<uint64_t> to);

/// The steps behind holes, in the order in which somebody comes to them.
class Holes {
 public:
  explicit Holes(const StepIndex& steps);

  /// Those up to step `seq` are behind.
  void pass(uint64_t seq) {
    while (at_ < all_.size() && all_[at_] <= seq) ++at_;
  }
  /// Number of the first place that has one in front of it; none = none has.
  std::optional<size_t> next(std::span<const Place> places) const {
    if (at_ == all_.size() || places.empty() || places.back().seq < all_[at_]) return std::nullopt;
    return find(places);
  }

 private:
  size_t find(std::span<const Place> places) const;

  std::vector<uint64_t> all_;
  size_t at_ = 0;
};

/// Holes that only one of two runs has while the runs seem to be the same. From there on, steps are
/// compared that are not each other's: until the runs meet anew, nothing tells that they differ.
class LoneHoles {
 public:
  LoneHoles(const StepIndex& a, const StepIndex& b) : a_(a), b_(b) {}

  /// These are the same. What is missing in both in front of the same step is, too.
  void see(std::span<const Place> a, std::span<const Place> b);
  /// The runs have met anew, with these.
  void meet(uint64_t seq_a, uint64_t seq_b);
  /// The step behind the first one since then; none = there is none.
  const std::optional<uint64_t>& in_a() const { return in_a_; }
  const std::optional<uint64_t>& in_b() const { return in_b_; }

 private:
  Holes a_, b_;
  std::optional<uint64_t> in_a_, in_b_;
};

}  // namespace tracewell::timeline
