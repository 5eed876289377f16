// qXfer:siginfo:read: the siginfo_t of the signal that stopped the current thread.
#include "agent/packets.h"
#include "agent/shared/xfer.h"

namespace tracewell::agent {

void on_qXfer_siginfo_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "siginfo", body, reply, [&](std::string_view annex) -> Result<std::string> {
    auto thread = session.current_thread();
    if (!annex.empty() || !thread) return Error{Errc::NotFound, "no such object", {}};
    TW_ASSIGN_OR_RETURN(auto bytes, session.target.signals()->read_siginfo(thread->tid));
    return std::string(as_text(bytes));
  });
}

}  // namespace tracewell::agent
