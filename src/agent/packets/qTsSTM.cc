// qTsSTM: the next of the process's static tracepoint markers.
#include "agent/packets.h"
#include "agent/shared/upload.h"

namespace tracewell::agent {

void on_qTsSTM(Session& session, std::string_view, Reply& reply) {
  reply.text(next_upload(session, "qTsSTM"));
}

}  // namespace tracewell::agent
