// ?: why the program stands still; in non-stop mode, why those threads do that stand still.
// Sent first by a debugger that has just connected.
#include "agent/packets.h"

namespace tracewell::agent {

void on_stop_reason(Session& session, std::string_view, Reply& reply) {
  using Kind = target::StopEvent::Kind;
  if (session.non_stop.on && !session.non_stop.confirmed) best_effort(session.set_non_stop(false));
  if (session.non_stop.on) {
    reply.text(session.report_anew());
    return;
  }
  const auto& last = session.last_stop;
  if (last && session.find_thread({last->pid, last->tid})) {
    session.general_thread = {last->pid, last->tid};
    reply.text(session.stop_reply(*last));
    return;
  }
  const target::ThreadInfo* thread = session.find_thread(rsp::kAnyThread);
  // Whoever comes to a recording finds it where it was left.
  if (target::TimeTravel* travel = session.target.time_travel(); thread && travel)
    if (const auto* next = session.find_thread({thread->pid, travel->next_thread()})) thread = next;
  if (!thread) {
    // Without a process: as if one had just ended. GDB in extended mode starts from there.
    const bool ended = last && (last->kind == Kind::Exited || last->kind == Kind::Signalled);
    reply.text(ended ? session.stop_reply(*last) : "W00");
    return;
  }
  session.general_thread = {thread->pid, thread->tid};
  reply.text(session.stop_reply(
      {.kind = Kind::Stepped, .pid = thread->pid, .tid = thread->tid, .path = {}}));
}

}  // namespace tracewell::agent
