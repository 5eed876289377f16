// qXfer:features:read: the target description.
#include "agent/packets.h"
#include "agent/shared/xfer.h"
#include "base/text/xml.h"

namespace tracewell::agent {

void on_qXfer_features_read(Session& session, std::string_view body, Reply& reply) {
  xfer_read(session, "features", body, reply, [&](std::string_view annex) -> Result<std::string> {
    if (annex != "target.xml") return Error{Errc::NotFound, "no such object", {}};
    const auto pid = current_process(session, "");
    if (pid) return plain_xml(session.target.target_description(*pid));
    // What a debugger makes of the frames (tsave) has their size of a register block only then.
    std::string of_frames = session.trace != nullptr ? session.trace->description() : "";
    if (of_frames.empty()) return pid.error();
    return plain_xml(of_frames);
  });
}

}  // namespace tracewell::agent
