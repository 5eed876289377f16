// P<number>=<hex>: writes one register of the current thread.
#include <algorithm>

#include "agent/packets.h"
#include "agent/session/non_stop.h"
#include "agent/shared/memory_packets.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {

void on_P_write(Session& session, std::string_view body, Reply& reply) {
  auto thread = session.current_thread();
  auto number = parse_hex(take_until(body, '='));
  auto value = from_hex(body);
  if (session.selected_frame) return reply.error(frame_stays());
  if (!thread || !number || *number > UINT32_MAX || !value)
    return reply.error(1);
  const RegisterLayout& layout = session.target.layout(thread->pid);
  const Register* reg = layout.by_number(static_cast<uint32_t>(*number));
  if (!reg || value->size() != reg->size_bytes) return reply.error(1);
  std::vector<uint8_t> block(layout.size_bytes);
  const Status known = session.target.read_registers(thread->tid, block);
  // There are none, as between the frames of a recording.
  if (!known && known.error().code == Errc::NotFound) return reply.error(known.error());
  if (!known) return reply.error(1);
  std::copy(value->begin(), value->end(), block.begin() + reg->offset);
  if (const Status known = session.knows_program(thread->pid); !known)
    return reply.error(known.error());
  const Status written = write_registers(session, *thread, block);
  if (written) reply.ok();
  else reply.failed(written.error());
}

}  // namespace tracewell::agent
