// bc: everything goes backwards, to a breakpoint, a watchpoint or the beginning of the recording.
#include "agent/packets.h"

namespace tracewell::agent {

void on_bc(Session& session, std::string_view body, Reply& reply) {
  if (!body.empty()) return reply.error(1);
  session.go_back(false, reply);
}

}  // namespace tracewell::agent
