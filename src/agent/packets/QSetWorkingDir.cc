// QSetWorkingDir:<hex of a path>: where programs to come start; empty = where the server did.
#include "agent/packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_QSetWorkingDir(Session& session, std::string_view body, Reply& reply) {
  auto path = text_from_hex(body);
  if (!path || path->find('\0') != std::string::npos) return reply.error(1);
  session.options.launch.working_directory = *std::move(path);
  reply.ok();
}

}  // namespace tracewell::agent
