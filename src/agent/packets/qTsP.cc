// qTsP: the next piece of the tracepoints' definitions.
#include "agent/packets.h"
#include "agent/shared/upload.h"

namespace tracewell::agent {

void on_qTsP(Session& session, std::string_view, Reply& reply) {
  reply.text(next_upload(session, "qTsP"));
}

}  // namespace tracewell::agent
