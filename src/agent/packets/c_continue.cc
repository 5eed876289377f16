// c: continue.
#include "agent/old_resume.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_c_continue(Session& session, std::string_view body, Reply& reply) {
  old_resume(session, false, false, body, reply);
}

}  // namespace tracewell::agent
