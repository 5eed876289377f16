// vCtrlC: stop the program, as the byte 0x03 between packets does.
#include "agent/packets.h"

namespace tracewell::agent {

void on_vCtrlC(Session& session, std::string_view, Reply& reply) {
  if (session.running()) reply.status(session.target.interrupt());
  else reply.ok();
}

}  // namespace tracewell::agent
