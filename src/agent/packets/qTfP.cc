// qTfP: the first piece of the tracepoints' definitions; qTsP has the others, `l` ends them.
#include "agent/packets.h"
#include "agent/upload.h"
#include "rsp/definitions.h"

namespace tracewell::agent {

void on_qTfP(Session& session, std::string_view, Reply& reply) {
  std::vector<std::string> pieces;
  for (const TracepointDef& definition : session.trace->tracepoints()) {
    // Hex takes two characters a byte; what else a piece says fits in the rest.
    for (std::string& piece : rsp::format_pieces(definition, Session::kPacketBytesMax / 4))
      pieces.push_back(std::move(piece));
  }
  begin_upload(session, "qTsP", std::move(pieces));
  reply.text(next_upload(session, "qTsP"));
}

}  // namespace tracewell::agent
