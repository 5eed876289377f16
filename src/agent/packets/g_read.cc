// g: all registers of the current thread, in the target description's order.
#include "agent/frame_view.h"
#include "agent/packets.h"

namespace tracewell::agent {

void on_g_read(Session& session, std::string_view, Reply& reply) {
  if (session.selected_frame) return read_frame_registers(session, reply);
  auto thread = session.current_thread();
  if (!thread) return reply.error(1);
  stop_if_sampled(session, *thread);
  std::vector<uint8_t> block(session.target.layout(thread->pid).size_bytes);
  const Status known = session.target.read_registers(thread->tid, block);
  if (!known && known.error().code == Errc::NotFound) return read_unknown_registers(session, reply);
  if (!known) return reply.error(1);
  reply.text(registers_text(block, session.target.known_registers(thread->tid),
                            session.target.layout(thread->pid)));
}

}  // namespace tracewell::agent
