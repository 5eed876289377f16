// G<hex>: writes all registers of the current thread.
#include "agent/packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_G_write(Session& session, std::string_view body, Reply& reply) {
  auto thread = session.current_thread();
  auto block = from_hex(body);
  if (session.selected_frame || !thread || !block) return reply.error(1);
  if (block->size() != session.target.layout(thread->pid).size_bytes) return reply.error(1);
  if (session.target.write_registers(thread->tid, *block)) reply.ok();
  else reply.error(1);
}

}  // namespace tracewell::agent
