// QTStart: puts the tracepoints into the current process and begins to collect.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QTStart(Session& session, std::string_view, Reply& reply) {
  const auto pid = session.current_pid();
  if (!pid) return reply.error({Errc::Target, "there is no process to trace", {}});
  session.selected_frame.reset();
  reply.status(session.trace->control()->start(*pid));
}

}  // namespace tracewell::agent
