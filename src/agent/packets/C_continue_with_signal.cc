// C<signal>: continue with a signal.
#include "agent/packets.h"
#include "agent/shared/old_resume.h"

namespace tracewell::agent {

void on_C_continue_with_signal(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, false, true, body, reply);
}

}  // namespace tracewell::agent
