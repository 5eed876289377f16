// qXfer:exec-file:read:<pid>: the absolute path of what a process runs. The debugger prints it, so
// what could act on a terminal is not as it is in the path, which no debugger finds then.
#include "agent/packets.h"
#include "agent/shared/xfer.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_qXfer_exec_file_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "exec-file", body, reply, [&](std::string_view annex) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(auto pid, annex_process(session, annex));
    TW_ASSIGN_OR_RETURN(const std::string path, session.target.facts()->exec_file(pid));
    return printable(path);
  });
}

}  // namespace tracewell::agent
