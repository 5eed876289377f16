// QStartNoAckMode: the connection loses nothing, so nobody needs acks and checksums.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QStartNoAckMode(Session& session, std::string_view, Reply& reply) {
  session.set_no_ack();
  reply.ok();
}

}  // namespace tracewell::agent
