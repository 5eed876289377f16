// Openings: where others than the recorded instructions may have written memory, and no step tells
// it. What was known of memory in front of one is not known behind it, only likely; what is found
// behind one was not always there in front of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "timeline/index/segment.h"
#include "timeline/streams/postings.h"

namespace tracewell::timeline {

/// In front of a step, behind the one before it.
struct Opening {
  uint64_t moment = 0;  // the step in front of which it is
  /// Others wrote while the step before was done, as in a system call, and not behind it: what that
  /// step itself left in memory is there.
  bool within = false;
};

/// Streams of Part::Openings: steps, but for the last.
enum class OpeningKey : uint64_t {
  Within,   // others wrote while they were done
  Between,  // others wrote in front of them, behind the step before
  Large,    // large_accesses.h
};

/// Of a segment, whose steps count from 0 here. One in front of its first step is not in its table,
/// because it takes two segments to see it (Segment::opened).
class SegmentOpenings {
 public:
  explicit SegmentOpenings(const Segment& segment);

  /// The last one that is not behind the moment in front of step `at`.
  std::optional<Opening> last(uint64_t at) const;
  /// The first one behind that.
  std::optional<Opening> next(uint64_t at) const;

 private:
  Postings within_, between_;
  bool has_within_ = false, has_between_ = false, opened_ = false;
};

/// Of a run of segments, which outlive it; steps are numbered as in the trace.
class Openings {
 public:
  explicit Openings(std::span<const Segment> segments) : segments_(segments) {}

  /// As those of a segment. Looks at no segment that ends in front of `since`, or that does not
  /// begin in front of `until`.
  std::optional<Opening> last(uint64_t at, uint64_t since) const;
  std::optional<Opening> next(uint64_t at, uint64_t until) const;

 private:
  /// The one that a moment falls into; that behind the last step is the last one's.
  size_t segment_of(uint64_t at) const;

  std::span<const Segment> segments_;
};

}  // namespace tracewell::timeline
