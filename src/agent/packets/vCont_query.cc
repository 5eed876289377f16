// vCont?: what vCont can do.
#include "agent/packets.h"

namespace tracewell::agent {

void on_vCont_query(Session&, std::string_view, Reply& reply) { reply.text("vCont;c;C;s;S;t;r"); }

}  // namespace tracewell::agent
