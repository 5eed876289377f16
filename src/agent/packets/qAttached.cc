// qAttached[:<pid>]: 1 when the process was found running, so that a debugger that quits detaches
// from it; 0 when it was started for the debugger, who then kills it.
#include "agent/packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_qAttached(Session& session, std::string_view body, Reply& reply) {
  auto pid = session.current_pid();
  if (body.starts_with(':')) {
    auto number = parse_hex(body.substr(1));
    pid = number ? std::optional<target::Pid>(static_cast<target::Pid>(*number)) : std::nullopt;
  }
  for (const target::ProcessInfo& process : session.target.processes())
    if (process.pid == pid) {
      reply.text(process.attached ? "1" : "0");
      return;
    }
  reply.error(1);
}

}  // namespace tracewell::agent
