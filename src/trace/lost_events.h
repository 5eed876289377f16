// How many events a trace says it has lost, and where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/catalog.h"
#include "model/event.h"
#include "model/process_table.h"

namespace tracewell::trace {

/// What one thread has lost for one reason.
struct LostPlace {
  uint64_t thread = 0;  // 0 = not known, or of several
  uint32_t process = 0;  // its; 0 = not known, or the only one that had a thread of that id
  std::string why;
  uint64_t count = 0;
  bool uncounted = false;  // and more, of which nobody knows how many
  bool in_front = false;   // nothing of the thread came before the first
  uint64_t times = 0;            // how many events say so
  uint64_t first = 0, last = 0;  // the numbers of the first and the last of these
  std::optional<int64_t> time_ns;  // of the first
};

/// Looks at a trace's events in order. Losses, and marks of trace hooks that tell of some.
class LostEvents {
 public:
  /// Before the first event.
  void begin(const Catalog& catalog) { processes_ = ProcessTable(catalog); }
  void look_at(const Event& event);

  /// In the order of their first events. Empty for traces of steps, whose losses their readers tell
  /// as problems.
  std::vector<LostPlace> places() const;

 private:
  using Thread = std::pair<uint64_t, uint32_t>;  // and its process: ids are used again
  void add(const Event& event, Thread thread, uint64_t count, std::string_view why);

  std::map<std::pair<Thread, std::string>, LostPlace, std::less<>> places_;
  ProcessTable processes_;
  std::set<Thread> threads_;    // that were seen
  bool limited_ = false;        // the log has dropped its oldest part, and counted it
  bool steps_ = false;
};

/// "1210", "1210 and more", "not known how many".
std::string lost_count_text(const std::vector<LostPlace>& places);
/// "1200 of thread 7 (no room in the thread's ring), in 3 places between events 12 and 400, first
/// at 2026-01-31 …"
std::string lost_place_text(const LostPlace& place);
/// "lost 1200 of thread 7 …", "an unknown number of events of thread 5 lost (full): event 2"
std::string lost_place_line(const LostPlace& place);

}  // namespace tracewell::trace
