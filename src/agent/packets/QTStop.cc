// QTStop: ends the run; OK as well when there is none.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QTStop(Session& session, std::string_view, Reply& reply) {
  reply.status(session.trace->control()->stop());
}

}  // namespace tracewell::agent
