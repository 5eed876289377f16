// qSymbol:…: the debugger offers to look symbols up. We need none.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qSymbol(Session&, std::string_view, Reply& reply) { reply.ok(); }

}  // namespace tracewell::agent
