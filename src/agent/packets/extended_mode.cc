// !: extended mode. The server outlives its processes, and the debugger may start new ones.
#include "agent/packets.h"

namespace tracewell::agent {

void on_extended_mode(Session& session, std::string_view, Reply& reply) {
  session.extended = true;
  reply.ok();
}

}  // namespace tracewell::agent
