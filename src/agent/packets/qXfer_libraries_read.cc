// qXfer:libraries:read: what a program has loaded where ELF's loader is not.
#include "agent/packets.h"
#include "agent/shared/xfer.h"

namespace tracewell::agent {

void on_qXfer_libraries_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "libraries", body, reply, [&](std::string_view annex) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(auto pid, current_process(session, annex));
    return session.target.libraries()->library_list(pid);
  });
}

}  // namespace tracewell::agent
