// QTStop: ends the run; OK as well when there is none. What was lost without a count is console
// output (O) ahead of the reply.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QTStop(Session& session, std::string_view, Reply& reply) {
  TraceControl& control = *session.trace->control();
  reply.status(control.stop());
  session.console_remarks();
}

}  // namespace tracewell::agent
