// QTDPsrc: what the user typed for a tracepoint, in pieces, so that another debugger can ask for
// it.
#include "agent/packets.h"
#include "rsp/qtdp.h"

namespace tracewell::agent {

void on_QTDPsrc(Session& session, std::string_view body, Reply& reply) {
  const auto piece = rsp::parse_qtdpsrc(body);
  if (!piece) return reply.error(piece.error());
  reply.status(session.trace->control()->add_source(*piece));
}

}  // namespace tracewell::agent
