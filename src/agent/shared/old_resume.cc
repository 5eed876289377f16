#include "agent/shared/old_resume.h"

#include "base/text/hex.h"
#include "rsp/signals.h"

namespace tracewell::agent {
namespace {

/// Of those that Hc chose, the one that Hg did if it is one of them.
std::optional<target::ThreadInfo> chosen_thread(const Session& session) {
  if (!session.resume_thread) return std::nullopt;
  const rsp::ThreadId which = *session.resume_thread;
  const auto current = session.current_thread();
  if (which.tid <= 0 && current && (which.pid <= 0 || which.pid == current->pid)) return current;
  if (which.pid <= 0) return std::nullopt;
  const target::ThreadInfo* const found = session.find_thread(which);
  if (!found) return std::nullopt;
  return *found;
}

}  // namespace

void old_resume(Session& session, bool step, bool with_signal, std::string_view body,
                Reply& reply) {
  int signal = 0;
  if (with_signal) {
    auto number = parse_hex(body);
    auto host = number && *number <= 255 ? rsp::linux_signal_from_gdb(static_cast<int>(*number))
                                         : std::nullopt;
    if (!host) return reply.error(1);
    signal = *host;
  } else if (!body.empty()) {
    return reply.error(1);
  }
  const auto chosen = chosen_thread(session);
  if (!chosen && session.target.end_untold()) return session.resume({}, reply);
  if (!chosen) return reply.error(1);
  const rsp::ThreadId which = *session.resume_thread;

  // The chosen thread steps and gets the signal; the others just go on.
  using Kind = target::ResumeAction::Kind;
  std::vector<target::ResumeAction> actions;
  for (const target::ThreadInfo& thread : session.threads()) {
    const bool is_chosen = thread.tid == chosen->tid;
    if (which.tid > 0 ? !is_chosen : which.pid > 0 && which.pid != thread.pid) continue;
    if (session.non_stop.on && (thread.running || session.non_stop.queue.holds(thread))) continue;
    actions.push_back({.tid = thread.tid,
                       .kind = step && is_chosen ? Kind::Step : Kind::Continue,
                       .signal = is_chosen ? signal : 0});
  }
  session.resume(std::move(actions), reply);
}

}  // namespace tracewell::agent
