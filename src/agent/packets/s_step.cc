// s: step by one instruction.
#include "agent/old_resume.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_s_step(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, true, false, body, reply);
}

}  // namespace tracewell::agent
