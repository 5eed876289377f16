// p<number>: one register of the current thread; of the selected frame, `xx` when not collected.
#include "agent/frame_view.h"
#include "agent/packets.h"
#include "base/hex.h"

namespace tracewell::agent {

void on_p_read(Session& session, std::string_view body, Reply& reply) {
  auto thread = session.current_thread();
  auto number = parse_hex(body);
  if (!thread || !number || *number > UINT32_MAX) return reply.error(1);
  const RegisterLayout& layout = session.target.layout(thread->pid);
  const Register* reg = layout.by_number(static_cast<uint32_t>(*number));
  if (!reg) return reply.error(1);
  if (session.selected_frame) {
    Reply all;
    read_frame_registers(session, all);
    if (all.str().size() != size_t{layout.size_bytes} * 2) return reply.error(1);
    reply.text(std::string_view(all.str()).substr(size_t{reg->offset} * 2,
                                                  size_t{reg->size_bytes} * 2));
    return;
  }
  stop_if_sampled(session, *thread);
  std::vector<uint8_t> block(layout.size_bytes);
  if (!session.target.read_registers(thread->tid, block)) return reply.error(1);
  if (is_known(session.target.known_registers(thread->tid), layout, *reg))
    reply.hex(Bytes(block).subspan(reg->offset, reg->size_bytes));
  else
    reply.text(std::string(size_t{reg->size_bytes} * 2, 'x'));
}

}  // namespace tracewell::agent
