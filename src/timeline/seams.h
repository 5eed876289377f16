// Seams: changes of registers that no segment shows by itself, because they fell between a thread's
// last step in one and its first in another.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/registers.h"
#include "timeline/segment_builder.h"
#include "timeline/stream_table.h"

namespace tracewell::timeline {

/// Goes over the segments of a trace in order.
class Seams {
 public:
  /// `layout` must outlive it.
  explicit Seams(const RegisterLayout& layout) : layout_(layout) {}

  /// Nothing of another session holds.
  void begin_session(uint64_t session);
  /// The table of changes between the segments so far and the one with these threads; empty when
  /// there are none.
  Pieces seam(const std::vector<SegmentBuilder::ThreadLook>& looks) const;
  /// How a segment leaves a thread, or all of them (by its table Part::Threads).
  void take(uint64_t tid, const RegisterState& last) { states_[tid] = last; }
  void take(const StreamTable& threads);

 private:
  bool differs(const RegisterState& a, const RegisterState& b, uint32_t index) const;

  const RegisterLayout& layout_;
  uint64_t session_ = UINT64_MAX;
  std::map<uint64_t, RegisterState> states_;  // by thread
};

}  // namespace tracewell::timeline
