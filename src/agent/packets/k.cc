// k: kills everything; has no reply. Without extended mode it ends the server, too.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_k(Session& session, std::string_view, Reply& reply) {
  reply.none();
  if (session.target.process_control()) kill_all(session);
  if (!session.extended) session.finish_server();
}

}  // namespace tracewell::agent
