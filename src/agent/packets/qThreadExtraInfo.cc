// qThreadExtraInfo,<thread-id>: what a person may want to read about a thread, in hex: its name.
#include "agent/packets.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_qThreadExtraInfo(Session& session, std::string_view body, Reply& reply) {
  auto id = rsp::parse_thread_id(body);
  const target::ThreadInfo* found = id && id->tid > 0 ? session.find_thread(*id) : nullptr;
  if (!found) return reply.error(1);
  target::ThreadInfo thread = *found;
  session.target.describe(thread);
  reply.hex(as_bytes(printable(thread.name)));
}

}  // namespace tracewell::agent
