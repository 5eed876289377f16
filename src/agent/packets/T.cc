// T<thread-id>: does the thread live?
#include "agent/packets.h"

namespace tracewell::agent {

void on_T(Session& session, std::string_view body, Reply& reply) {
  auto id = rsp::parse_thread_id(body);
  if (id && id->tid > 0 && session.find_thread(*id)) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
