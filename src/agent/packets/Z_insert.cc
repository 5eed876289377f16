// Z<type>,<address>,<kind>[;X<len>,<code>…][;cmds:<persist>,X<len>,<code>…]: inserts a breakpoint
// or watchpoint; or replaces the conditions and commands (bytecode) of one that is there.
#include "agent/packets.h"
#include "agent/shared/breakpoint_packets.h"

namespace tracewell::agent {

void on_Z_insert(Session& session, std::string_view body, Reply& reply) {
  change_breakpoint(session, 'Z', body, reply);
}

}  // namespace tracewell::agent
