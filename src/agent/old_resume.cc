#include "agent/old_resume.h"

#include "base/hex.h"
#include "rsp/signals.h"

namespace tracewell::agent {

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
  const bool one_only = session.resume_thread.tid > 0;
  auto current = session.current_thread();
  const target::ThreadInfo* chosen = nullptr;
  if (one_only) chosen = session.find_thread(session.resume_thread);
  else if (current) chosen = &*current;
  if (!chosen) return reply.error(1);

  // The chosen thread steps and gets the signal; the others just go on.
  using Kind = target::ResumeAction::Kind;
  std::vector<target::ResumeAction> actions;
  for (const target::ThreadInfo& thread : session.threads()) {
    const bool is_chosen = thread.tid == chosen->tid;
    if (one_only && !is_chosen) continue;
    actions.push_back({.tid = thread.tid,
                       .kind = step && is_chosen ? Kind::Step : Kind::Continue,
                       .signal = is_chosen ? signal : 0});
  }
  session.resume(std::move(actions), reply);
}

}  // namespace tracewell::agent
