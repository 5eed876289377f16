// QProgramSignals:<signal>;…: signals (GDB's numbers) that the program may see. While it is
// debugged, the debugger decides about each one that is told, and those that are not told are
// passed; so this matters when the program is let go.
#include "agent/packets.h"
#include "agent/shared/signal_packets.h"

namespace tracewell::agent {

void on_QProgramSignals(Session& session, std::string_view body, Reply& reply) {
  const auto signals = parse_signals(body);
  if (!signals) return reply.error(1);
  session.target.signals()->program_signals(*signals);
  reply.ok();
}

}  // namespace tracewell::agent
