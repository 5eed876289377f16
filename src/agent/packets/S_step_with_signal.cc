// S<signal>: step by one instruction, with a signal.
#include "agent/packets.h"
#include "agent/shared/old_resume.h"

namespace tracewell::agent {

void on_S_step_with_signal(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, true, true, body, reply);
}

}  // namespace tracewell::agent
