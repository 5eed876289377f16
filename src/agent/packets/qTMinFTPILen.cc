// qTMinFTPILen: the shortest instruction that a fast tracepoint can replace, in bytes: any. 0 = not
// known, because there are no fast tracepoints. GDB also asks when it learns of those of a
// recording, and goes away when one is at an instruction that is too short.
// Manual: "Tracepoint Packets".
#include "agent/packets.h"

namespace tracewell::agent {

void on_qTMinFTPILen(Session& session, std::string_view, Reply& reply) {
  auto* const live = session.target.trace_sites();
  reply.text(live == nullptr || live->fast() != nullptr ? "1" : "0");
}

}  // namespace tracewell::agent
