// QTDV: defines a trace state variable and sets it to its initial value.
#include "agent/packets.h"
#include "rsp/definitions.h"

namespace tracewell::agent {

void on_QTDV(Session& session, std::string_view body, Reply& reply) {
  auto variable = rsp::parse_variable(body);
  if (!variable) return reply.error(variable.error());
  reply.status(session.trace->control()->define_variable(std::move(*variable)));
}

}  // namespace tracewell::agent
