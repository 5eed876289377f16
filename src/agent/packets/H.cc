// H<c|g><thread-id>: the thread that the following packets are about (c: c and s; g: the others).
#include "agent/packets.h"

namespace tracewell::agent {

void on_H(Session& session, std::string_view body, Reply& reply) {
  const char operation = body.empty() ? '\0' : body[0];
  if (operation != 'c' && operation != 'g') return reply.error(1);
  auto& chosen = operation == 'c' ? session.resume_thread : session.general_thread;
  // Stock GDB does not look at the reply, and goes on as if it had its thread. That must not be the
  // one that it had before.
  chosen.reset();
  if (operation == 'g') session.non_stop.of_gone_thread = 0;
  auto id = rsp::parse_thread_id(body.substr(1));
  if (!id) return reply.error(1);
  if (id->pid > 0 || id->tid > 0) {
    const target::ThreadInfo* const thread = session.find_thread(*id);
    if (!thread) {
      if (operation == 'g' && id->pid > 0) session.non_stop.of_gone_thread = id->pid;
      return reply.error(1);
    }
    id->pid = thread->pid;  // a client without the multiprocess feature does not say it
  }
  chosen = *id;
  reply.ok();
}

}  // namespace tracewell::agent
