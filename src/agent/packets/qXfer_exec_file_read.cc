// qXfer:exec-file:read:<pid>: the absolute path of what a process runs.
#include "agent/packets.h"
#include "agent/xfer.h"

namespace tracewell::agent {

void on_qXfer_exec_file_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "exec-file", body, reply, [&](std::string_view annex) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(auto pid, annex_process(session, annex));
    return session.target.facts()->exec_file(pid);
  });
}

}  // namespace tracewell::agent
