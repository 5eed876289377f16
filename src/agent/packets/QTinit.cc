// QTinit: a new experiment; nothing of the old one is kept.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_QTinit(Session& session, std::string_view, Reply& reply) {
  if (!pid_to_trace(session))
    return reply.error({Errc::Target, "there is no process to trace", {}});
  session.selected_frame.reset();
  reply.status(session.trace->control()->reset());
}

}  // namespace tracewell::agent
