// D[;<pid>]: the debugger leaves a process (the current one) alone. With disconnected tracing on,
// or breakpoint commands that persist, the process runs on and we stay with it.
#include <algorithm>

#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {
namespace {

std::optional<target::Pid> which(const Session& session, std::string_view body) {
  if (body.empty()) return session.current_pid();
  if (!body.starts_with(';')) return std::nullopt;
  const auto pid = parse_pid(body.substr(1));
  if (!pid || !session.find_thread({*pid, 0})) return std::nullopt;
  return pid;
}

/// Are there others that the debugger knows, and so could let go?
bool has_others(const Session& session, target::Pid pid) {
  return std::ranges::any_of(session.threads(), [pid](const target::ThreadInfo& thread) {
    return thread.pid != pid;
  });
}

/// The session would end, and with it whatever the debugger does with its other programs.
void refuse_to_stay(const Session& session, target::Pid pid, Reply& reply) {
  const Error why{Errc::Target,
                  fmt::format("The trace of process {} is to go on without a debugger: detach from "
                              "the other programs first, or end the trace (tstop)",
                              pid),
                  {}};
  session.notice(why.text());
  reply.error(why);
}

}  // namespace

void on_D(Session& session, std::string_view body, Reply& reply) {
  auto pid = which(session, body);
  if (!pid) return reply.error(1);
  session.selected_frame.reset();
  // Of the traced program alone: a debugger also lets go the forks that it does not follow.
  if (session.traces_alone() && session.trace->control()->traced() == *pid) {
    if (has_others(session, *pid)) return refuse_to_stay(session, *pid, reply);
    session.notice("Disconnected tracing in effect, staying attached to the process");
    if (session.non_stop.on) best_effort(session.set_non_stop(false));
    session.run_on(false);
    reply.ok();
    return session.finish();
  }
  if (session.commands_alone() && !has_others(session, *pid)) {
    session.notice("Persistent commands are present, staying attached to the process");
    session.options.programs->leave();
    session.run_on(false);
    reply.ok();
    return session.finish();
  }
  // Without process control (a recorded trace) there is nothing to let go.
  if (session.target.process_control()) {
    const bool last = !has_others(session, *pid);
    if (last && session.trace && session.trace->control()) session.trace->control()->client_lost();
    auto status = detach_one(session, *pid);
    if (!status) return reply.error(status.error());
  }
  reply.ok();
  const bool last = session.target.processes().empty() || !session.target.process_control();
  if (!last || session.extended) return;
  session.non_stop.parts = session.non_stop.on && session.non_stop.queue.first() != "OK";
  if (!session.non_stop.parts) session.finish();
}

}  // namespace tracewell::agent
