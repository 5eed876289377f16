// vStopped: the debugger knows of the stop that it was told last; is there another? (non-stop)
#include "agent/packets.h"

namespace tracewell::agent {

void on_vStopped(Session& session, std::string_view, Reply& reply) {
  if (!session.non_stop.on) return reply.ok();
  const std::string next = session.non_stop.queue.acknowledge();
  reply.text(next);
  if (session.non_stop.parts && next == "OK") session.finish();
}

}  // namespace tracewell::agent
