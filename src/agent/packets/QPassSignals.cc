// QPassSignals:<signal>;<signal>…: signals (GDB's numbers) to deliver without a stop.
#include "agent/packets.h"
#include "agent/shared/signal_packets.h"

namespace tracewell::agent {

void on_QPassSignals(Session& session, std::string_view body, Reply& reply) {
  const auto signals = parse_signals(body);
  if (!signals) return reply.error(1);
  session.target.signals()->pass_signals(*signals);
  session.non_stop.says_signals = session.non_stop.on;
  reply.ok();
}

}  // namespace tracewell::agent
