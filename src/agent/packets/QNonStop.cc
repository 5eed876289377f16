// QNonStop:0|1: do all threads stop when one does? Without the ability only 0 is understood.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QNonStop(Session& session, std::string_view body, Reply& reply) {
  // All-stop mode has no reply left to tell it in.
  if (body == "0" && session.non_stop.queue.holds_exec()) return reply.error(1);
  if (body == "0" || (body == "1" && session.target.non_stop()))
    reply.status(session.set_non_stop(body == "1"));
  else
    reply.error(1);
}

}  // namespace tracewell::agent
