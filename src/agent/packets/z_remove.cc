// z<type>,<address>,<kind>: removes a breakpoint or watchpoint.
#include "agent/breakpoint_packets.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_z_remove(Session& session, std::string_view body, Reply& reply) {
  change_breakpoint(session, 'z', body, reply);
}

}  // namespace tracewell::agent
