// qThreadExtraInfo,<thread-id>: what a person may want to read about a thread, in hex: its name.
#include "agent/packets.h"
#include "base/text.h"

namespace tracewell::agent {

void on_qThreadExtraInfo(Session& session, std::string_view body, Reply& reply) {
  auto id = rsp::parse_thread_id(body);
  const target::ThreadInfo* thread = id && id->tid > 0 ? session.find_thread(*id) : nullptr;
  if (!thread) return reply.error(1);
  reply.hex(as_bytes(printable(thread->name)));
}

}  // namespace tracewell::agent
