// QTinit: a new experiment; nothing of the old one is kept. Its memory goes back to the system
// behind the reply.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_QTinit(Session& session, std::string_view, Reply& reply) {
  if (!pid_to_trace(session))
    return reply.error({Errc::Target, "there is no process to trace", {}});
  TraceControl& control = *session.trace->control();
  if (!session.trace->frames().settled()) return reply.later();
  session.selected_frame.reset();
  reply.status(control.reset());
}

}  // namespace tracewell::agent
