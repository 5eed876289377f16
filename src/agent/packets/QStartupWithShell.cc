// QStartupWithShell:<0|1>: are programs to come started by a shell, which expands their arguments?
#include "agent/packets.h"

namespace tracewell::agent {

void on_QStartupWithShell(Session& session, std::string_view body, Reply& reply) {
  if (body != "0" && body != "1") return reply.error(1);
  session.options.launch.startup_with_shell = body == "1";
  reply.ok();
}

}  // namespace tracewell::agent
