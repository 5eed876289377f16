// QEnvironmentHexEncoded:<hex of NAME=value>: a variable for programs to come.
#include "agent/packets.h"
#include "agent/process_packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_QEnvironmentHexEncoded(Session& session, std::string_view body, Reply& reply) {
  auto text = text_from_hex(body);
  if (!text || text->find('\0') != std::string::npos) return reply.error(1);
  const size_t equals = text->find('=');
  if (equals == 0 || equals == std::string::npos) return reply.error(1);
  forget_variable(session, std::string_view(*text).substr(0, equals));
  session.options.launch.environment_set.push_back(*std::move(text));
  reply.ok();
}

}  // namespace tracewell::agent
