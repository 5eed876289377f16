#include "hooks/session/session_log.h"

#include <cstring>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_use.h"
#include "hooks/session/collector.h"
#include "hooks/session/losses.h"
#include "model/lost_count.h"

namespace tracewell::hooks {

Uuid uuid_of(const tracewell_channel& channel) {
  Uuid out;
  std::memcpy(out.data(), channel.uuid, out.size());
  return out;
}

Instant start_of(const tracewell_channel& channel) {
  return {channel.ticks, channel.time_ns, channel.monotonic_ns};
}

bool is_log_of(const Folder& log, const Control& control, unsigned channel) {
  return is_claimed_by(log, control.path()) && is_log_of(log, control.channel(channel).uuid);
}

Status tell(const tracewell_channel& channel, const Folder& folder, std::string_view text) {
  return add_mark(folder, uuid_of(channel), text);
}

Result<LogFolder> open_log(Control& control, unsigned number, const Folder& folder) {
  const tracewell_channel& channel = control.channel(number);
  auto log = LogFolder::open(folder, {channel.log_bytes, channel.stop_when_full != 0,
                                      channel.stop_when_full == kLogIsFull});
  tracewell_watch& watch = control.watch(number);
  if (log.ok() && watch.session == channel.session) log->count_dropped_in(watch.dropped);
  return log;
}

Status tell_dropped(const tracewell_channel& channel, const Folder& folder, LogFolder& log) {
  const uint64_t dropped = log.dropped();
  if (dropped == 0) return {};
  TW_RETURN_IF_ERROR(tell(
      channel, folder,
      log.full() ? fmt::format("{} records lost: they came when the log was full", dropped)
                 : fmt::format("LOGFILE WRAPAROUND, {} records dropped", dropped)));
  log.take_dropped();
  return {};
}

uint64_t told_without_ring(const tracewell_channel& channel, const Folder& folder) {
  const std::string behind = fmt::format(" records lost: {}", kNoRing);
  uint64_t sum = 0;
  each_mark(folder, uuid_of(channel), [&](std::string_view text) {
    if (!text.ends_with(behind)) return;
    text.remove_suffix(behind.size());
    sum = lost_sum(sum, parse_number(text).value_or(0));
  });
  return sum;
}

Status tell_without_ring(const tracewell_channel& channel, const Folder& folder,
                         uint64_t records) {
  return tell(channel, folder, fmt::format("{} records lost: {}", records, kNoRing));
}

namespace {

/// How it was ended, for its last mark.
Result<std::string> take_rest(Collector& collector, Rest rest) {
  if (rest == Rest::Kept) {
    TW_RETURN_IF_ERROR(collector.finish());
    return std::string();
  }
  TW_ASSIGN_OR_RETURN(const uint64_t records, collector.discard());
  return fmt::format(", {} records discarded", records);
}

/// Of hooks that are in no ring, what was not told while the session ran.
Status tell_losses(const tracewell_channel& channel, const Folder& folder, const Losses& losses) {
  const uint64_t told = told_without_ring(channel, folder);
  if (losses.records > told)
    TW_RETURN_IF_ERROR(tell_without_ring(channel, folder, losses.records - told));
  if (losses.changed)
    TW_RETURN_IF_ERROR(tell(channel, folder, fmt::format("0 records lost: {}", kCountsChanged)));
  return {};
}

}  // namespace

Error incomplete(Control& control, unsigned number, const Folder& folder, Error why) {
  const Losses losses = losses_of(control, number);
  return tell_losses(control.channel(number), folder, losses).ok() ? why
                                                                   : with_losses(why, losses);
}

// What is in no ring is told also where what is in rings does not fit into the log: `trcdead` takes
// that later, and knows nothing of the other.
Status complete_log(Control& control, unsigned number, const Folder& folder, Rest rest,
                    std::string_view why) {
  tracewell_channel& channel = control.channel(number);
  const auto complete = [&]() -> Status {
    TW_ASSIGN_OR_RETURN(LogFolder log, open_log(control, number, folder));
    Collector collector(folder, log, uuid_of(channel), channel.ticks);
    const auto how = take_rest(collector, rest);
    const Status dropped = tell_dropped(channel, folder, log);
    if (!how.ok()) return how.error();
    TW_RETURN_IF_ERROR(dropped);
    TW_RETURN_IF_ERROR(tell_losses(channel, folder, losses_of(control, number)));
    TW_RETURN_IF_ERROR(
        tell(channel, folder, fmt::format("TRACE OFF channel {}{}{}", number, why, *how)));
    const LogClock clock = measure_clock(start_of(channel), now(), channel.hertz);
    TW_RETURN_IF_ERROR(change_clock(folder, clock));
    return give_back_room(folder);
  };
  const Status status = complete();
  return status.ok() ? status : incomplete(control, number, folder, status.error());
}

}  // namespace tracewell::hooks
