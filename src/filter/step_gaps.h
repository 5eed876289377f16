// Steps that are left out: what they told of registers must not be lost with them, and that they
// are not there should be known.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/batch.h"
#include "model/thread_registers.h"

namespace tracewell::filter {

/// Keeps `Step::before` true in a stream from which events are dropped: the next step that stays
/// tells what its thread's dropped steps told. Give it every event once, in order.
class StepGaps {
 public:
  /// Of the registers that dropped steps named; beyond that, is_full().
  explicit StepGaps(size_t bytes_max = ThreadRegisters::kBytesMax) : told_(bytes_max) {}

  /// No room for what this event tells if it is dropped: clear() comes first.
  bool is_full(const RegisterLayout& layout, const Event& event) const {
    return told_.is_full(layout, event.tid) || (by_thread_.size() >= kThreadsMax &&
                                                !by_thread_.contains(event.tid));
  }
  /// As at the start of a session.
  void clear();
  void dropped(const RegisterLayout& layout, const Event& event);
  /// Changes the event's `before`; its payload goes into `batch`. How many steps were dropped
  /// between it and the last one of its thread that stayed; 0 when it is the first of these.
  uint64_t kept(const RegisterLayout& layout, Event& event, Batch& batch);

 private:
  static constexpr size_t kThreadsMax = 1 << 20;
  struct Thread {
    uint64_t dropped = 0;
    bool any_kept = false;
    /// Registers that dropped steps changed to what nobody knows; mostly empty.
    std::vector<bool> unknown;
  };
  void forget_session(const Event& event);

  std::unordered_map<uint64_t, Thread> by_thread_;
  ThreadRegisters told_;  // by dropped steps, since the last one that stayed
  std::vector<Step::RegisterChange> before_;
};

}  // namespace tracewell::filter
