// QNonStop:0|1: we are all-stop; the other mode is not offered.
#include "agent/packets.h"

namespace tracewell::agent {

void on_QNonStop(Session&, std::string_view body, Reply& reply) {
  if (body == "0") reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
