// vKill;<pid>: kills one process; the session goes on. A recorded one cannot be killed; what GDB's
// user means is to leave it.
#include "agent/packets.h"
#include "agent/process_packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_vKill(Session& session, std::string_view body, Reply& reply) {
  auto pid = parse_hex(body);
  if (!pid || !session.find_thread({static_cast<target::Pid>(*pid), 0}) || *pid == 0)
    return reply.error(1);
  if (!session.target.process_control()) {
    reply.ok();
    return session.finish();
  }
  if (kill_one(session, static_cast<target::Pid>(*pid))) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
