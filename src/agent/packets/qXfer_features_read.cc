// qXfer:features:read: the target description.
#include "agent/packets.h"
#include "agent/xfer.h"

namespace tracewell::agent {

void on_qXfer_features_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "features", body, reply, [&](std::string_view annex) -> Result<std::string> {
    if (annex != "target.xml") return Error{Errc::NotFound, "no such object", {}};
    TW_ASSIGN_OR_RETURN(auto pid, current_process(session, ""));
    return session.target.target_description(pid);
  });
}

}  // namespace tracewell::agent
