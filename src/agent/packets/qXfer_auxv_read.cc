// qXfer:auxv:read: the auxiliary vector, as the kernel gave it to the program.
#include "agent/packets.h"
#include "agent/shared/xfer.h"

namespace tracewell::agent {

void on_qXfer_auxv_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "auxv", body, reply, [&](std::string_view annex) -> Result<std::string> {
    TW_ASSIGN_OR_RETURN(auto pid, current_process(session, annex));
    TW_ASSIGN_OR_RETURN(auto bytes, session.target.facts()->auxv(pid));
    return std::string(as_text(bytes));
  });
}

}  // namespace tracewell::agent
