// M<address>,<length>:<hex>: writes memory of the current process, all or nothing.
#include "agent/packets.h"
#include "agent/shared/memory_packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_M_write(Session& session, std::string_view body, Reply& reply) {
  auto range = parse_range(take_until(body, ':'));
  auto bytes = from_hex(body);
  if (!range || !bytes || bytes->size() != range->size) return reply.error(1);
  write_memory(session, range->address, *bytes, reply);
}

}  // namespace tracewell::agent
