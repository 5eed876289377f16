// Where a trace lacks steps: what is behind such a hole may have come to pass in either way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/stream.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/flow.h"

namespace tracewell::timeline {

/// Where one trace lacks steps, and how many. Each hole is read once, when somebody asks for it;
/// all threads share what is known then.
class HoleList {
 public:
  explicit HoleList(const StepIndex& steps);
  /// Looks for holes in front of sessions, and at the end. Call it first.
  Status look_at_borders();

  const StepIndex& steps() const { return steps_; }
  /// The steps behind holes, ascending.
  std::span<const uint64_t> behind() const { return behind_; }
  /// What has eaten the steps behind that one may have bitten into it.
  bool is_in_front_of_hole(uint64_t seq) const {
    return std::ranges::binary_search(behind_, seq + 1) ||
           (misses_end_ && seq + 1 == steps_.count());
  }
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
  bool misses_end_ = false;
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
  bool over() const { return at_ == all_.size(); }
  /// Number of the first place that has one in front of it; none = none has. The first `from`
  /// places are known to have none. What is near is found soon: holes may be as many as steps.
  std::optional<size_t> next(std::span<const Place> places, size_t from = 0) const {
    if (at_ == all_.size() || places.empty() || places.back().seq < all_[at_]) return std::nullopt;
    return find(places, from);
  }

 private:
  void skip(uint64_t seq);
  size_t find(std::span<const Place> places, size_t from) const;

  std::span<const uint64_t> all_;
  size_t at_ = 0;
};

/// Holes of two runs that seem to be the same. From there on, steps may be compared that are not
/// each other's: until the runs meet anew, nothing tells that they differ. That holds also where
/// both lack steps in front of the same one: nobody knows that these are the same, or as many.
class LoneHoles {
 public:
  LoneHoles(const HoleList& a, const HoleList& b) : a_(a.behind()), b_(b.behind()) {}

  /// The first one since then, and others between the same two steps of the thread.
  struct Lone {
    uint64_t first = 0;  // the step behind the hole, of any thread
    uint64_t to = 0;     // the thread's step behind it
    bool told = false;   // a difference has told of it
  };

  /// These are the same.
  void see(std::span<const Place> a, std::span<const Place> b);
  bool over() const { return a_.over() && b_.over(); }
  /// Numbers of places with a hole in front of them, ascending.
  std::vector<size_t> ahead_in_a(std::span<const Place> a) const { return ahead(a_, a); }
  std::vector<size_t> ahead_in_b(std::span<const Place> b) const { return ahead(b_, b); }
  /// The number of the first place, of as many of both, with a hole in front of it in either.
  size_t next(std::span<const Place> a, std::span<const Place> b) const {
    const size_t count = std::min(a.size(), b.size());
    return std::min({count, a_.next(a.first(count)).value_or(count),
                     b_.next(b.first(count)).value_or(count)});
  }
  /// The runs have met anew, with these: all is settled.
  void meet(uint64_t seq_a, uint64_t seq_b);
  /// So it seems, as far as anybody can tell behind these holes, of which a difference tells.
  void meet_in_doubt(uint64_t seq_a, uint64_t seq_b, const std::optional<Hole>& hole_a,
                     const std::optional<Hole>& hole_b);
  /// What was passed by is known to have changed nothing: the runs are where they seem to be.
  void settle();
  /// That is so, but for the size of what is missing: the first such hole of each.
  const std::optional<Lone>& settled_in_a() const { return settled_a_; }
  const std::optional<Lone>& settled_in_b() const { return settled_b_; }
  /// Those that are not settled.
  const std::optional<Lone>& in_a() const { return in_a_; }
  const std::optional<Lone>& in_b() const { return in_b_; }

 private:
  static std::vector<size_t> ahead(Holes holes, std::span<const Place> places);

  Holes a_, b_;
  std::optional<Lone> in_a_, in_b_, settled_a_, settled_b_;
};

}  // namespace tracewell::timeline
