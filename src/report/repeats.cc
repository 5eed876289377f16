#include "report/repeats.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"

namespace tracewell::report {

bool Repeats::again(size_t log, const Entry& entry) {
  if (entry.time_ns != time_ns_) {
    time_ns_ = entry.time_ns;
    events_.clear();
    seen_.clear();
  }
  key_.assign(as_text(entry.buffer));
  // All that is printed of it: logs may be of different users, who decide what is in theirs.
  fmt::format_to(std::back_inserter(key_), "{}/{}/{}/{}/{}/{}", entry.tid, entry.pid, entry.cpu,
                 entry.environment_bits, entry.facility, entry.process_path);
  const auto event = std::ranges::find(events_, key_, &Kept::bytes);
  const auto index = static_cast<size_t>(event - events_.begin());
  if (event == events_.end()) {
    if (events_.size() < kKept) {
      events_.push_back({key_, 1});
      seen_.push_back({log, index, 1});
    }
    return false;
  }
  const auto seen = std::ranges::find_if(
      seen_, [&](const Seen& one) { return one.log == log && one.event == index; });
  const uint64_t count = seen == seen_.end() ? 1 : ++seen->count;
  if (seen == seen_.end() && seen_.size() < kKept) seen_.push_back({log, index, 1});
  if (count <= event->printed) return true;
  ++event->printed;
  return false;
}

}  // namespace tracewell::report
