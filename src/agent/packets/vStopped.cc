// vStopped: the debugger knows of the stop that it was told last; is there another? (non-stop)
#include "agent/packets.h"

namespace tracewell::agent {

void on_vStopped(Session& session, std::string_view, Reply& reply) {
  if (session.non_stop.on) reply.text(session.non_stop.queue.acknowledge());
  else reply.ok();
}

}  // namespace tracewell::agent
