#include "hooks/foreground/foreground_trace.h"

#include <chrono>
#include <optional>
#include <utility>

#include "hooks/session/notices.h"
#include "hooks/session/session_guard.h"
#include "hooks/session/start_collector.h"

namespace tracewell::hooks {
namespace {

/// Ends the session. Its collector may be held (stopped, or by a disk that does not answer), or the
/// one that another command waits for: then a signal ends us, and the guard, which lives on, ends
/// the session. Those that come at once are the first one again: `timeout` sends it twice.
Status stop_in_foreground(Control& control, unsigned channel, const HeldSignals& signals,
                          const Foreground& foreground, std::optional<Folder>& log) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point patient_until = Clock::now() + std::chrono::seconds(1);
  return stop_session(control, channel, Rest::Kept, [&] {
    const int signal = signals.take();
    if (signal != 0 && Clock::now() > patient_until) foreground.end(signal);
    return false;
  }, &log);
}

}  // namespace

Result<ForegroundEnd> trace_in_foreground(Control& control, const SessionOptions& session,
                                          const HeldSignals& signals, const Foreground& foreground,
                                          const Work& work) {
  TW_RETURN_IF_ERROR(begin_trace(control, session));
  auto guard = SessionGuard::start(control, session.channel);
  if (!guard.ok()) {
    best_effort(stop_session(control, session.channel));
    return std::move(guard).error();
  }
  tell_unseen_programs(work);
  auto waited = foreground.wait();
  tell_collectors(control, work);
  std::optional<Folder> log;
  ForegroundEnd out;
  out.stopped = stop_in_foreground(control, session.channel, signals, foreground, log);
  guard->dismiss();
  Work counting = work;
  counting.stop = [&] {
    if (const int signal = signals.take(); signal != 0) foreground.end(signal);
    return false;
  };
  tell_lost_hooks(log, counting);
  TW_ASSIGN_OR_RETURN(out.waited, std::move(waited));
  return out;
}

}  // namespace tracewell::hooks
