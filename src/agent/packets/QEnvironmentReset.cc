// QEnvironmentReset: programs to come get the server's own environment again.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QEnvironmentReset(Session& session, std::string_view, Reply& reply) {
  session.options.launch.environment_set.clear();
  session.options.launch.environment_unset.clear();
  reply.ok();
}

}  // namespace tracewell::agent
