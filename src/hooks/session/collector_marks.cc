#include "hooks/session/collector_marks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/session/session_log.h"

namespace tracewell::hooks {

Status CollectorMarks::tell_moves() {
  const uint64_t times = std::exchange(untold_moves_, 0);
  if (times == 0) return {};
  const std::string often = times == 1 ? std::string() : fmt::format("{} times, ", times);
  return tell(channel_, folder_,
              fmt::format("LOG MOVED {}from {} to {}", often, printable(from_), printable(to_)));
}

Status CollectorMarks::moved(const std::string& from, const std::string& to) {
  if (untold_moves_++ == 0) from_ = from;
  to_ = to;
  if (!moves_.once_more()) return {};
  return tell_moves();
}

Status CollectorMarks::dropped(LogFolder& log) {
  if (log.dropped() == std::exchange(untold_records_, log.dropped())) return {};
  if (!log.full() && !drops_.once_more()) return {};
  untold_records_ = 0;
  return tell_dropped(channel_, folder_, log);
}

void CollectorMarks::without_ring(uint64_t records, int64_t now_ns) {
  if (records == 0) return;
  if (!told_without_ring_) told_without_ring_ = told_without_ring(channel_, folder_);
  if (records <= *told_without_ring_) return;
  if (!untold_since_ns_) untold_since_ns_ = now_ns;
  if (now_ns - *untold_since_ns_ < telling_ns_) return;
  telling_ns_ = std::min(2 * telling_ns_, kMostNs);
  untold_since_ns_.reset();
  if (tell_without_ring(channel_, folder_, records - *told_without_ring_).ok())
    told_without_ring_ = records;
}

Status CollectorMarks::tell_rest(LogFolder& log) {
  untold_records_ = 0;
  TW_RETURN_IF_ERROR(tell_dropped(channel_, folder_, log));
  return tell_moves();
}

}  // namespace tracewell::hooks
