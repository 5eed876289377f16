// G<hex>: writes all registers of the current thread.
#include "agent/packets.h"
#include "agent/session/non_stop.h"
#include "agent/shared/memory_packets.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_G_write(Session& session, std::string_view body, Reply& reply) {
  auto thread = session.current_thread();
  auto block = from_hex(body);
  if (session.selected_frame) return reply.error(frame_stays());
  if (!thread || !block) return reply.error(1);
  if (block->size() != session.target.layout(thread->pid).size_bytes) return reply.error(1);
  if (const Status known = session.knows_program(thread->pid); !known)
    return reply.error(known.error());
  const Status written = write_registers(session, *thread, *block);
  if (written) reply.ok();
  else reply.failed(written.error());
}

}  // namespace tracewell::agent
