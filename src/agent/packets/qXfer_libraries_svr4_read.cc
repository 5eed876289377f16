// qXfer:libraries-svr4:read: the shared libraries, as the loader's list has them.
#include "agent/packets.h"
#include "agent/shared/xfer.h"

namespace tracewell::agent {

void on_qXfer_libraries_svr4_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "libraries-svr4", body, reply,
            [&](std::string_view annex) -> Result<std::string> {
              TW_ASSIGN_OR_RETURN(auto pid, current_process(session, annex));
              return session.target.facts()->libraries_svr4(pid);
            });
}

}  // namespace tracewell::agent
