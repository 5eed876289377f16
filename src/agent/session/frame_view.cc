#include "agent/session/frame_view.h"

#include <algorithm>

#include "base/text/hex.h"
#include "target/thread_snapshot.h"

namespace tracewell::agent {

namespace {

// More than any honest request for memory; GDB asks for what it got a PacketSize for.
constexpr uint64_t kReadMax = Session::kPacketBytesMax / 2;

/// As many of the bytes as were collected without a gap.
Bytes collected(const KnownMemory& memory) {
  const auto end = std::ranges::find(memory.states, ByteState::Unknown);
  return Bytes(memory.bytes).first(static_cast<size_t>(end - memory.states.begin()));
}

}  // namespace

Result<RegisterState> shown_registers(Session& session) {
  const auto thread = session.current_thread();
  const Error none{Errc::Target, "there is no such thread, or no such frame", {}};
  if (!session.selected_frame) {
    if (!thread) return none;
    return target::ThreadSnapshot(session.target, thread->pid, thread->tid).registers();
  }
  const auto pid = session.current_pid();
  if (!pid || !session.trace) return none;
  const auto frame = session.trace->frames().frame(*session.selected_frame);
  if (!frame) return none;
  return FrameSnapshot(*frame, session.target.layout(*pid), session.target.endian()).registers();
}

std::string registers_text(const RegisterState& state, const RegisterLayout& layout) {
  std::string hex = to_hex(state.block);
  for (uint32_t i = 0; i < layout.registers.size(); ++i)
    if (const Register& one = layout.registers[i]; !state.is_valid(i))
      std::fill_n(hex.begin() + 2 * one.offset, 2 * one.size_bytes, 'x');
  return hex;
}

std::string no_registers_text(const RegisterLayout& layout, Endian endian) {
  Frame nowhere;
  nowhere.pc = 0;
  const auto state = FrameSnapshot(nowhere, layout, endian).registers();
  return state.ok() ? registers_text(*state, layout) : std::string();
}

void read_frame_memory(Session& session, uint64_t address, uint64_t size, Reply& reply) {
  if (!session.trace || !session.selected_frame) return reply.error(1);
  const auto frame = session.trace->frames().frame(*session.selected_frame);
  if (!frame) return reply.error(1);
  size = std::min(size, kReadMax);
  FrameSnapshot snapshot(*frame, session.target.layout(session.trace->frames_of()),
                         session.target.endian());
  const auto memory = snapshot.memory(address, size);
  if (!memory) return reply.error(memory.error());
  if (const Bytes bytes = collected(*memory); !bytes.empty()) {
    reply.hex(bytes);
    return;
  }
  // Of the program that was traced: the debugger may have chosen another one by now.
  const target::Pid pid = session.trace->frames_of();
  if (pid == 0 || size == 0 || !session.trace->read_only(pid, address, size))
    return reply.error(1);
  std::vector<uint8_t> live(size);
  live.resize(session.target.read_memory(pid, address, live));
  if (live.empty()) return reply.error(1);
  reply.hex(live);
}

}  // namespace tracewell::agent
