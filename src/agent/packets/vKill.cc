// vKill;<pid>: kills one process; the session goes on.
#include "agent/packets.h"
#include "agent/process_packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_vKill(Session& session, std::string_view body, Reply& reply) {
  auto pid = parse_hex(body);
  if (!pid || !session.find_thread({static_cast<target::Pid>(*pid), 0}) || *pid == 0)
    return reply.error(1);
  if (kill_one(session, static_cast<target::Pid>(*pid))) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
