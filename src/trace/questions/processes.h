// The processes of a trace: who they are, and where in it they began and ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/catalog.h"
#include "model/event.h"
#include "model/process_table.h"

namespace tracewell::trace {

struct TracedProcess {
  struct Place {
    uint64_t event = 0;  // the one behind it
    std::optional<int64_t> time_ns;
  };
  uint32_t number = 0;  // as Event::process has it
  Process who;          // as it is known at the trace's end
  std::optional<Place> began, ended;  // where the trace tells it
};

/// Looks at a trace's events in order. Of many processes, only the number is kept of some.
class TracedProcesses {
 public:
  static constexpr size_t kListedMax = ProcessTable::kWholeMax;

  /// Before the first event: who is known by then.
  void begin(const Catalog& catalog);
  void look_at(const Event& event) {
    table_.learn(event);
    if (event.process != 0) note(event);
  }

  /// Those that are known, or that events are of.
  uint64_t count() const { return count_; }
  /// By number, of which the first kListedMax are here.
  std::vector<TracedProcess> list() const;

 private:
  struct Life {
    std::optional<TracedProcess::Place> began, ended;
  };
  void note(const Event& event);
  void note(uint32_t process);

  ProcessTable table_;
  std::vector<bool> there_;  // by number
  std::map<uint32_t, Life> lives_;
  uint64_t count_ = 0;
};

}  // namespace tracewell::trace
