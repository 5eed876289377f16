// Whose events lines of JSON are, where they do not say it as Tracewell writes it.
#pragma once

#include <cstdint>
#include <map>

#include "model/batch.h"
#include "model/catalog.h"
#include "model/process_table.h"

namespace tracewell::formats {

/// Lines of releases before, and those that people write, have a `pid` alone; and whoever picks
/// lines out of a file may leave out those that say who a `process` is. A pid that nothing explains
/// is a process of its own, and the same one each time; a change in front of the event says so.
class JsonlProcesses {
 public:
  explicit JsonlProcesses(const Catalog& catalog);
  /// The last event of `batch` was just read, and its line has this pid; 0 = none. Where it says
  /// nothing at all, a change may have said whose its thread is.
  void settle(Batch& batch, uint32_t pid);

 private:
  void note(uint32_t process, uint32_t pid);
  uint32_t fresh() { return next_ <= kProcessesMax ? next_++ : 0; }

  ProcessTable table_;
  std::map<uint32_t, uint32_t> by_pid_;  // who had it last
  uint32_t next_ = 1;                    // no process has this number
};

}  // namespace tracewell::formats
