// H<c|g><thread-id>: the thread that the following packets are about (c: c and s; g: the others).
#include "agent/packets.h"

namespace tracewell::agent {

void on_H(Session& session, std::string_view body, Reply& reply) {
  const char operation = body.empty() ? '\0' : body[0];
  if (operation != 'c' && operation != 'g') return reply.error(1);
  auto id = rsp::parse_thread_id(body.substr(1));
  if (!id) return reply.error(1);
  const bool names_one = id->pid > 0 || id->tid > 0;
  if (names_one && !session.find_thread(*id)) return reply.error(1);
  (operation == 'c' ? session.resume_thread : session.general_thread) = *id;
  reply.ok();
}

}  // namespace tracewell::agent
