// s: step by one instruction.
#include "agent/packets.h"
#include "agent/shared/old_resume.h"

namespace tracewell::agent {

void on_s_step(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, true, false, body, reply);
}

}  // namespace tracewell::agent
