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

/// Where one trace lacks steps, and how many. Each hole is read once, when somebody asks for it;
/// all threads share what is known then.
class HoleList {
 public:
  explicit HoleList(const StepIndex& steps);

  const StepIndex& steps() const { return steps_; }
  /// The steps behind holes, ascending.
  std::span<const uint64_t> behind() const { return behind_; }
  /// What is missing behind step `after` (none: from the beginning on) and in front of step `to`
  /// (none: up to the trace's end), all of it counted; none = nothing is.
  Result<std::optional<Hole>> find(std::optional<uint64_t> after, std::optional<uint64_t> to);

 private:
  Status read(size_t from, size_t to);
  size_t next(std::vector<uint32_t>& links, size_t at);
  void add(std::vector<uint64_t>& sums, size_t at, uint64_t value);
  static uint64_t sum(const std::vector<uint64_t>& sums, size_t count);

  const StepIndex& steps_;
  std::vector<uint64_t> behind_;
  /// Places that may lack something in front of them: where stretches begin, and the end.
  std::vector<uint64_t> places_;
  // Of each place, and one behind them: itself, or one nearer to the next that has not been read,
  // and to the next that has been read without finding anything missing.
  std::vector<uint32_t> unread_, missing_;
  // Sums over places, as binary indexed trees: steps, and holes of a size that nobody knows.
  std::vector<uint64_t> counted_, unknown_;
};

/// The steps behind holes, in the order in which somebody comes to them.
class Holes {
 public:
  explicit Holes(std::span<const uint64_t> behind) : all_(behind) {}

  /// Those up to step `seq` are behind.
  void pass(uint64_t seq) {
    if (at_ < all_.size() && all_[at_] <= seq) skip(seq);
  }
  /// The step behind the next one; there is one.
  uint64_t first() const { return all_[at_]; }
  /// Number of the first place that has one in front of it; none = none has.
  std::optional<size_t> next(std::span<const Place> places) const {
    if (at_ == all_.size() || places.empty() || places.back().seq < all_[at_]) return std::nullopt;
    return find(places);
  }

 private:
  void skip(uint64_t seq);
  size_t find(std::span<const Place> places) const;

  std::span<const uint64_t> all_;
  size_t at_ = 0;
};

/// Holes that only one of two runs has while the runs seem to be the same. From there on, steps are
/// compared that are not each other's: until the runs meet anew, nothing tells that they differ.
class LoneHoles {
 public:
  LoneHoles(const HoleList& a, const HoleList& b) : a_(a.behind()), b_(b.behind()) {}

  /// These are the same. What is missing in both in front of the same step is, too.
  void see(std::span<const Place> a, std::span<const Place> b);
  /// The runs have met anew, with these.
  void meet(uint64_t seq_a, uint64_t seq_b);
  /// The first one since then, and others between the same two steps of the thread.
  struct Lone {
    uint64_t first = 0;  // the step behind the hole, of any thread
    uint64_t to = 0;     // the thread's step behind it
  };
  const std::optional<Lone>& in_a() const { return in_a_; }
  const std::optional<Lone>& in_b() const { return in_b_; }

 private:
  Holes a_, b_;
  std::optional<Lone> in_a_, in_b_;
};

}  // namespace tracewell::timeline
