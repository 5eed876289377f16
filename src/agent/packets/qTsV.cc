// qTsV: the next trace state variable.
#include "agent/packets.h"
#include "agent/shared/upload.h"

namespace tracewell::agent {

void on_qTsV(Session& session, std::string_view, Reply& reply) {
  reply.text(next_upload(session, "qTsV"));
}

}  // namespace tracewell::agent
