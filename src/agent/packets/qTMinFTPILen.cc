// qTMinFTPILen: the shortest instruction that a fast tracepoint can replace; 0 = not known, because
// there are no fast tracepoints.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qTMinFTPILen(Session&, std::string_view, Reply& reply) { reply.text("0"); }

}  // namespace tracewell::agent
