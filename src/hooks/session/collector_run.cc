// The life of a collector: as long as its session, unless somebody takes away what it needs. A log
// that was moved is followed. A control file that was removed leaves nobody who could end the
// session, since commands that start then look at another one: so the collector does.
#include <atomic>
#include <cstring>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/text/text.h"
#include "hooks/log/held_folder.h"
#include "hooks/log/log_use.h"
#include "hooks/session/collector.h"
#include "hooks/session/collector_marks.h"
#include "hooks/session/collector_sleep.h"
#include "hooks/session/losses.h"
#include "hooks/session/session.h"
#include "hooks/session/session_log.h"

namespace tracewell::hooks {
namespace {

enum class End : uint8_t { Session, LogFull, ControlRemoved };

constexpr int64_t kLookNs = 20'000'000;  // from one look at the outside to the next

int64_t coarse_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Programs copy it at any time; until it is whole it leads nowhere, and they count what they lose.
void store_log_path(tracewell_channel& channel, const std::string& path) {
  std::atomic_ref first(channel.log[0]);
  first.store('\0');
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memset(channel.log + 1, 0, sizeof channel.log - 1);
  std::memcpy(channel.log + 1, path.data() + 1, path.size() - 1);
  first.store(path[0]);
}

Status follow_log(tracewell_channel& channel, HeldFolder& folder, CollectorMarks& marks) {
  const std::string before = log_of(channel);
  if (folder.is_at(before)) return {};
  const auto where = folder.now();
  if (!where) return {Errc::Io, fmt::format("{} was removed", printable(before))};
  if (where->size() >= sizeof channel.log)
    return {Errc::Limit, fmt::format("{} was moved to a place whose path is too long",
                                     printable(before))};
  store_log_path(channel, *where);
  folder.call(*where);
  return marks.moved(before, *where);
}

class Rounds {
 public:
  Rounds(Control& control, unsigned number, HeldFolder& folder)
      : control_(control),
        number_(number),
        channel_(control.channel(number)),
        folder_(folder),
        marks_(channel_, folder.folder()) {}

  Result<End> run() {
    const uint32_t session = channel_.session;
    TW_ASSIGN_OR_RETURN(LogFolder log, open_log(control_, number_, folder_.folder()));
    auto how = collect(session, log);
    if (channel_.session != session) return how;
    const Status told = marks_.tell_rest(log);
    if (how.ok()) TW_RETURN_IF_ERROR(told);
    return how;
  }

  Status end(End how) {
    if (how == End::Session) return {};
    control_.set_state(number_, control_.state(number_) & ~TRACEWELL_STATE_ON);
    if (how == End::LogFull) {
      channel_.stop_when_full = kLogIsFull;
      return tell(channel_, folder_.folder(),
                  fmt::format("TRACE OFF channel {}, the log is full", number_));
    }
    const std::string control = printable(control_.path());
    Status why = complete_log(control_, number_, folder_.folder(), Rest::Kept,
                              fmt::format(", since its control file {} was removed", control));
    if (why.ok())
      why = {Errc::Io, fmt::format("its control file {} was removed; {} is complete up to then",
                                   control, printable(log_of(channel_)))};
    release_log(folder_.folder());
    // Before the trace is over: who finds none asks why at once.
    control_.note_why(number_, why.error().text());
    channel_.active = 0;
    return why;
  }

 private:
  Result<End> collect(uint32_t session, LogFolder& log) {
    Collector collector(folder_.folder(), log, uuid_of(channel_), channel_.ticks);
    CollectorSleep sleep(channel_);
    while (channel_.session == session && std::atomic_ref(channel_.stopping).load() == 0) {
      TW_ASSIGN_OR_RETURN(const uint64_t taken, collector.collect());
      TW_RETURN_IF_ERROR(marks_.dropped(log));
      watch_losses(control_, number_);
      if (log.full()) return End::LogFull;
      if (taken != 0)
        sleep.found_something();
      else
        sleep.found_nothing();
      if (!is_time_to_look()) continue;
      if (const tracewell_watch& watch = control_.watch(number_); watch.session == session)
        marks_.without_ring(watch.lost, looked_ns_);
      TW_RETURN_IF_ERROR(follow_log(channel_, folder_, marks_));
      if (control_.is_removed()) return leave(collector, End::ControlRemoved);
      forget_dead_losses(control_);
    }
    if (channel_.session != session) return End::Session;
    // Whoever ends the session goes by the path.
    TW_RETURN_IF_ERROR(follow_log(channel_, folder_, marks_));
    if (std::atomic_ref(channel_.stopping).load() == kStopDiscarding) return End::Session;
    return leave(collector, End::Session);
  }

  Result<End> leave(Collector& collector, End how) {
    TW_RETURN_IF_ERROR(collector.leave());
    return how;
  }

  bool is_time_to_look() {
    const int64_t now = coarse_ns();
    if (now - looked_ns_ < kLookNs) return false;
    looked_ns_ = now;
    return true;
  }

  Control& control_;
  unsigned number_;
  tracewell_channel& channel_;
  HeldFolder& folder_;
  CollectorMarks marks_;
  int64_t looked_ns_ = 0;
};

}  // namespace

Status run_collector(Control& control, unsigned number, const std::function<void()>& started) {
  tracewell_channel& channel = control.channel(number);
  TW_ASSIGN_OR_RETURN(const UniqueFd alive, control.lock_collector(number));
  TW_ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::open(log_of(channel)));
  // Nothing is written to what somebody put into its place.
  if (!is_log_of(folder.folder(), control, number))
    return {Errc::Io, fmt::format("{} was removed, or exchanged for another log",
                                  printable(log_of(channel)))};
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, open_log_lock(folder.folder()));
  TW_RETURN_IF_ERROR(lock_file(lock.get()));
  control.note_collector(number);
  started();
  ask_for_short_turns();
  Rounds rounds(control, number, folder);
  const auto how = rounds.run();
  Status status = how.ok() ? rounds.end(*how) : Status(how.error());
  if (!status.ok() && !folder.now())
    status = {Errc::Io, fmt::format("{} was removed", printable(log_of(channel)))};
  if (!status.ok()) control.note_why(number, status.error().text());
  return status;
}

std::optional<std::string> collector_trouble(const Control& control, unsigned number) {
  const tracewell_channel& channel = control.channel(number);
  if (channel.active == 0 || !control.had_collector(number) || control.has_collector(number) ||
      channel.stop_when_full == kLogIsFull)
    return std::nullopt;
  const std::string why = control.why(number);
  const std::string log = printable(log_of(channel));
  return fmt::format(
      "the collector of the trace on channel {} {}. Hooks that find no room in their thread's "
      "buffer are lost, and counted. trcstop puts what buffers hold into {}; where it cannot, "
      "`trcdead -o OTHER_LOG {}` does once their programs have ended",
      number, why.empty() ? "was killed" : "has ended: " + why, log, log);
}

}  // namespace tracewell::hooks
