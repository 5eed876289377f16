// Z<type>,<address>,<kind>: inserts a breakpoint or watchpoint.
#include "agent/breakpoint_packets.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_Z_insert(Session& session, std::string_view body, Reply& reply) {
  change_breakpoint(session, 'Z', body, reply);
}

}  // namespace tracewell::agent
