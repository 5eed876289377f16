// Steps that are left out: what they told of registers must not be lost with them, and that they
// are not there should be known.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "model/batch.h"

namespace tracewell::filter {

/// Keeps `Step::before` true in a stream from which events are dropped: the next step that stays
/// tells what its thread's dropped steps told. Give it every event once, in order. Memory grows
/// with the registers that dropped steps named, for each thread.
class StepGaps {
 public:
  void dropped(const Event& event);
  /// Changes the event's `before`; its payload goes into `batch`. How many steps were dropped
  /// between it and the last one of its thread that stayed; 0 when it is the first of these.
  uint64_t kept(Event& event, Batch& batch);

 private:
  using Values = std::map<uint32_t, std::vector<uint8_t>>;  // by register index
  struct Thread {
    Values values;
    uint64_t dropped = 0;
    bool any_kept = false;
  };
  static void merge(Values& into, std::span<const Step::RegisterChange> changes);

  std::unordered_map<uint64_t, Thread> by_thread_;
};

}  // namespace tracewell::filter
