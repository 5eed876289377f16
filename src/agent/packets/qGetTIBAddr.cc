// qGetTIBAddr:<thread-id>: where Windows keeps its block of the thread. GDB for Windows does not
// look for libraries when this is unknown; it reads there where the program was loaded, if it can.
// No trace says it, so the answer is an address at which there is nothing.
#include "agent/packets.h"

namespace tracewell::agent {

void on_qGetTIBAddr(Session& session, std::string_view body, Reply& reply) {
  const auto id = rsp::parse_thread_id(body);
  if (id && session.find_thread(*id)) reply.text("0");
  else reply.error(1);
}

}  // namespace tracewell::agent
