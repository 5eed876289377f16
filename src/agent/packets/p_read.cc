// p<number>: one register of the current thread; of the selected frame, `xx` when not collected.
#include "agent/packets.h"
#include "agent/session/frame_view.h"
#include "base/text/hex.h"

namespace tracewell::agent {

void on_p_read(Session& session, std::string_view body, Reply& reply) {
  auto thread = session.current_thread();
  auto number = parse_hex(body);
  if (!thread || !number || *number > UINT32_MAX) return reply.error(1);
  const RegisterLayout& layout = session.target.layout(thread->pid);
  const Register* reg = layout.by_number(static_cast<uint32_t>(*number));
  if (!reg) return reply.error(1);
  if (!session.selected_frame) stop_if_sampled(session, *thread);
  const auto state = shown_registers(session);
  if (!state) return reply.error(1);
  if (state->is_valid(static_cast<uint32_t>(reg - layout.registers.data())))
    reply.hex(Bytes(state->block).subspan(reg->offset, reg->size_bytes));
  else
    reply.text(std::string(size_t{reg->size_bytes} * 2, 'x'));
}

}  // namespace tracewell::agent
