// qTSTMat:<addr>: the static tracepoint markers at an address.
#include "agent/packets.h"
#include "agent/shared/upload.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_qTSTMat(Session& session, std::string_view body, Reply& reply) {
  const auto address = parse_hex(body);
  if (!address) return reply.error({Errc::InvalidArgument, "expected an address", {}});
  // The files of the process are read for it.
  if (const Status wanted = session.go_on(Inbox::kLookBytes); !wanted)
    return reply.error(wanted.error());
  TraceControl* const control = session.trace->control();
  const auto pid = session.current_pid();
  std::string found;
  if (control != nullptr && pid)
    for (const Marker& marker : control->markers(*pid))
      if (marker.address == *address) found += (found.empty() ? "m" : ",") + marker_text(marker);
  reply.text(found.empty() ? "l" : found);
}

}  // namespace tracewell::agent
