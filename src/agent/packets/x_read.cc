// x<address>,<length>: memory of the current process as `b` and binary data.
#include <algorithm>

#include "agent/packets.h"
#include "agent/shared/memory_packets.h"
#include "rsp/framing.h"

namespace tracewell::agent {

void on_x_read(Session& session, std::string_view body, Reply& reply) {
  auto range = parse_range(body);
  if (!range || session.selected_frame) return reply.error(1);
  const size_t room = Session::kPacketBytesMax - 1;
  if (range->size == 0) {
    reply.text("b");
    return;
  }
  auto bytes = read_memory(session, range->address, std::min<uint64_t>(range->size, room));
  if (!bytes) return reply.error(1);
  size_t used = 0;
  reply.text("b").text(rsp::escape_prefix(*bytes, room, used));
}

}  // namespace tracewell::agent
