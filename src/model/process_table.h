// ProcessTable: the processes of a trace, as far as they are known by now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <variant>
#include <vector>

#include "model/catalog.h"
#include "model/event.h"
#include "model/process.h"

namespace tracewell {

/// Learns from the catalog and from changes among the events, in their order. Each look-up takes
/// the same time however many processes there are; a trace of any length takes bounded memory.
class ProcessTable {
 public:
  static constexpr size_t kWholeMax = 65536;              // of more, only the pids are kept
  static constexpr size_t kTextBytesMax = size_t{64} << 20;  // of these all; of more there are none
  static constexpr size_t kThreadsMax = 65536;            // with more, none is known at first

  ProcessTable() = default;
  explicit ProcessTable(const Catalog& catalog);

  /// Before anything is asked of the event.
  void learn(const Event& event) {
    if (const auto* change = std::get_if<Change>(&event.body)) learn(event, *change);
  }
  /// 0 = not known.
  uint32_t pid(uint32_t process) const { return process < pids_.size() ? pids_[process] : 0; }
  /// What else is known of it; nullptr: nothing is. Lasts until the next learn().
  const Process* find(uint32_t process) const;
  bool has_ended(uint32_t process) const {
    return process < flags_.size() && (flags_[process] & kEnded) != 0;
  }
  /// The event's process, or else the one that has its thread by now. 0 = not known.
  uint32_t process_of(const Event& event) const {
    return event.process != 0 || threads_.empty() ? event.process : process_of_thread(event.tid);
  }
  uint32_t pid_of(const Event& event) const { return pid(process_of(event)); }

 private:
  static constexpr uint8_t kKnown = 1, kEnded = 2;
  void learn(const Event& event, const Change& change);
  bool is_known(uint32_t process) const {
    return process < flags_.size() && (flags_[process] & kKnown) != 0;
  }
  void put(uint32_t process, const Process& told);
  uint32_t process_of_thread(uint64_t tid) const;

  std::vector<uint32_t> pids_;  // by Event::process; the first is nobody's
  std::vector<uint8_t> flags_;  // alike
  std::deque<Process> whole_;   // alike, without nobody
  size_t text_bytes_ = 0;
  std::unordered_map<uint64_t, uint32_t> threads_;  // that began: whose they are
};

/// As a catalog keeps it: `told` becomes the process with this number. Of one with a large number
/// nothing is kept.
void put_process(std::vector<Process>& processes, uint32_t process, const Process& told);

}  // namespace tracewell
