// g: all registers of the current thread, in the target description's order.
#include "agent/packets.h"
#include "agent/session/frame_view.h"

namespace tracewell::agent {

void on_g_read(Session& session, std::string_view, Reply& reply) {
  const auto thread = session.current_thread();
  const auto pid = session.current_pid();
  if (!pid) return reply.error(1);
  if (thread && !session.selected_frame) stop_if_sampled(session, *thread);
  const RegisterLayout& layout = session.target.layout(*pid);
  const auto state = shown_registers(session);
  if (state.ok())
    reply.text(registers_text(*state, layout));
  else if (state.error().code == Errc::NotFound)
    reply.text(no_registers_text(layout, session.target.endian()));
  else
    reply.error(1);
}

}  // namespace tracewell::agent
