// QDisableRandomization:<0|1>: are the addresses of programs to come the same each time?
#include "agent/packets.h"

namespace tracewell::agent {

void on_QDisableRandomization(Session& session, std::string_view body, Reply& reply) {
  if (body != "0" && body != "1") return reply.error(1);
  session.options.launch.disable_randomization = body == "1";
  reply.ok();
}

}  // namespace tracewell::agent
