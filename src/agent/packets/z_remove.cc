// z<type>,<address>,<kind>: removes a breakpoint or watchpoint.
#include "agent/packets.h"
#include "agent/shared/breakpoint_packets.h"

namespace tracewell::agent {

void on_z_remove(Session& session, std::string_view body, Reply& reply) {
  change_breakpoint(session, 'z', body, reply);
}

}  // namespace tracewell::agent
