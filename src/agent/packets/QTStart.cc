// QTStart: puts the tracepoints into the current process and begins to collect. What is not as its
// user asked for is console output (O) ahead of the reply.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_QTStart(Session& session, std::string_view, Reply& reply) {
  const auto pid = pid_to_trace(session);
  if (!pid) return reply.error({Errc::Target, "there is no process to trace", {}});
  if (const Status known = session.knows_program(*pid); !known) return reply.error(known.error());
  TraceControl& control = *session.trace->control();
  if (!session.trace->frames().settled()) return reply.later();
  session.selected_frame.reset();
  reply.status(control.start(*pid));
  // GDB shows such output while it waits for this reply.
  session.console_remarks();
}

}  // namespace tracewell::agent
