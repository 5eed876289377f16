// QTBuffer:circular:<0|1>: may a new frame push out the oldest? GDB sends it at each tstart and
// gives up when it is not understood.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QTBuffer_circular(Session& session, std::string_view body, Reply& reply) {
  if (body != "0" && body != "1")
    return reply.error({Errc::InvalidArgument, "expected 0 or 1", {}});
  reply.status(session.trace->control()->set_circular(body == "1"));
}

}  // namespace tracewell::agent
