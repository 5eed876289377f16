// bs: one step back of the current thread, in a recording.
#include "agent/packets.h"

namespace tracewell::agent {

void on_bs(Session& session, std::string_view body, Reply& reply) {
  if (!body.empty()) return reply.error(1);
  session.go_back(true, reply);
}

}  // namespace tracewell::agent
