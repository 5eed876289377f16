// R<anything>: restarts the program (extended mode); has no reply.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_R(Session& session, std::string_view, Reply& reply) {
  reply.none();
  if (!session.extended || session.options.launch.argv.empty()) return;
  kill_all(session);
  if (auto event = launch(session); !event) session.notice(event.error().text());
}

}  // namespace tracewell::agent
