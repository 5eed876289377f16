// qTSTMat:<addr>: the static tracepoint marker at an address. We know of none.
#include "agent/packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_qTSTMat(Session&, std::string_view body, Reply& reply) {
  if (!parse_hex(body)) return reply.error({Errc::InvalidArgument, "expected an address", {}});
  reply.text("l");
}

}  // namespace tracewell::agent
