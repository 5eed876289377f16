// X<address>,<length>:<binary>: writes memory of the current process. A debugger asks with length 0
// whether we know the packet.
#include "agent/packets.h"
#include "agent/shared/memory_packets.h"
#include "base/text/text.h"
#include "rsp/framing.h"

namespace tracewell::agent {

void on_X_write(Session& session, std::string_view body, Reply& reply) {
  auto range = parse_range(take_until(body, ':'));
  auto bytes = rsp::unescape(body);
  if (!range || !bytes || bytes->size() != range->size) return reply.error(1);
  write_memory(session, range->address, *bytes, reply);
}

}  // namespace tracewell::agent
