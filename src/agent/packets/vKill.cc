// vKill;<pid>: kills one process; the session goes on. A recorded one cannot be killed; what GDB's
// user means is to leave it.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"

namespace tracewell::agent {

void on_vKill(Session& session, std::string_view body, Reply& reply) {
  const auto pid = parse_pid(body);
  if (!pid || !session.find_thread({*pid, 0})) return reply.error(1);
  if (!session.target.process_control()) {
    reply.ok();
    return session.finish();
  }
  if (kill_one(session, *pid)) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
