// qSymbol:…: the debugger offers to look symbols up, which it does when it has any. We need none.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qSymbol(Session& session, std::string_view, Reply& reply) {
  session.client.symbols = true;
  reply.ok();
}

}  // namespace tracewell::agent
