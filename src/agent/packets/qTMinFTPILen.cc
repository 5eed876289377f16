// qTMinFTPILen: the shortest instruction that a fast tracepoint can replace, in bytes: any. 0 = not
// known, because there are no fast tracepoints.
// Manual: "Tracepoint Packets".
#include "agent/packets.h"

namespace tracewell::agent {

void on_qTMinFTPILen(Session& session, std::string_view, Reply& reply) {
  const bool fast = session.target.trace_sites() && session.target.trace_sites()->fast();
  reply.text(fast ? "1" : "0");
}

}  // namespace tracewell::agent
