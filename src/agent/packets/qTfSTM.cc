// qTfSTM: the first of the process's static tracepoint markers; qTsSTM has the others, `l` ends
// them. A piece: `m<addr>:<hex id>:<hex extra>`, or several of them with commas.
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/upload.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

namespace {

constexpr size_t kPieceBytes = 2048;  // one that long is sent

}  // namespace

std::string marker_text(const Marker& marker) {
  // Both are what a file of the program says, and GDB prints them.
  return fmt::format("{:x}:{}:{}", marker.address, to_hex(as_bytes(printable(marker.id))),
                     to_hex(as_bytes(printable(marker.arguments))));
}

void on_qTfSTM(Session& session, std::string_view, Reply& reply) {
  // The files of the process are read for it.
  if (const Status wanted = session.go_on(Inbox::kLookBytes); !wanted)
    return reply.error(wanted.error());
  TraceControl* const control = session.trace->control();
  const auto pid = session.current_pid();
  std::vector<std::string> pieces;
  if (control != nullptr && pid)
    for (const Marker& marker : control->markers(*pid)) {
      if (pieces.empty() || pieces.back().size() > kPieceBytes) pieces.emplace_back("m");
      if (pieces.back().size() > 1) pieces.back() += ',';
      pieces.back() += marker_text(marker);
    }
  begin_upload(session, "qTsSTM", std::move(pieces));
  reply.text(next_upload(session, "qTsSTM"));
}

}  // namespace tracewell::agent
