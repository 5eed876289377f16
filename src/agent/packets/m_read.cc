// m<address>,<length>: memory of the current process in hex; a shorter reply is normal.
#include <algorithm>

#include "agent/packets.h"
#include "agent/session/frame_view.h"
#include "agent/shared/memory_packets.h"

namespace tracewell::agent {

void on_m_read(Session& session, std::string_view body, Reply& reply) {
  auto range = parse_range(body);
  if (!range) return reply.error(1);
  const uint64_t size = std::min<uint64_t>(range->size, Session::kPacketBytesMax / 2);
  if (session.selected_frame) return read_frame_memory(session, range->address, size, reply);
  auto bytes = read_memory(session, range->address, size);
  if (!bytes) return reply.error(1);
  reply.hex(*bytes);
}

}  // namespace tracewell::agent
