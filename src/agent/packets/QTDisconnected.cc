// QTDisconnected:<0|1>: shall a run go on when the debugger goes away?
#include "agent/packets.h"

namespace tracewell::agent {

void on_QTDisconnected(Session& session, std::string_view body, Reply& reply) {
  if (body != "0" && body != "1")
    return reply.error({Errc::InvalidArgument, "expected 0 or 1", {}});
  session.trace->control()->set_disconnected(body == "1");
  reply.ok();
}

}  // namespace tracewell::agent
