// qTfSTM: static tracepoint markers of the program. We know of none.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qTfSTM(Session&, std::string_view, Reply& reply) { reply.text("l"); }

}  // namespace tracewell::agent
