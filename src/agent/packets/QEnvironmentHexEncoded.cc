// QEnvironmentHexEncoded:<hex of NAME=value>: a variable for programs to come.
#include "agent/packets.h"
#include "agent/shared/process_packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_QEnvironmentHexEncoded(Session& session, std::string_view body, Reply& reply) {
  auto text = text_from_hex(body);
  if (!text || text->find('\0') != std::string::npos) return reply.error(1);
  const size_t equals = text->find('=');
  if (equals == 0 || equals == std::string::npos) return reply.error(1);
  const std::string name = text->substr(0, equals);
  reply.status(set_variable(session, name, session.options.launch.environment_set,
                            *std::move(text)));
}

}  // namespace tracewell::agent
