// QEnvironmentUnset:<hex of NAME>: a variable that programs to come shall not have.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_QEnvironmentUnset(Session& session, std::string_view body, Reply& reply) {
  auto name = text_from_hex(body);
  constexpr std::string_view kNotInNames("=\0", 2);
  if (!name || name->empty() || name->find_first_of(kNotInNames) != std::string::npos)
    return reply.error(1);
  reply.status(set_variable(session, *name, session.options.launch.environment_unset, *name));
}

}  // namespace tracewell::agent
