// qC: the current thread.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qC(Session& session, std::string_view, Reply& reply) {
  auto thread = session.current_thread();
  if (!thread) return reply.error(1);
  reply.text("QC").text(session.thread_name(thread->pid, thread->tid));
}

}  // namespace tracewell::agent
