// c: continue.
#include "agent/packets.h"
#include "agent/shared/old_resume.h"

namespace tracewell::agent {

void on_c_continue(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, false, false, body, reply);
}

}  // namespace tracewell::agent
