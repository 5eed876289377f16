#include "agent/frame_view.h"

#include <algorithm>

#include "base/endian.h"
#include "base/hex.h"

namespace tracewell::agent {

namespace {

// More than any honest request for memory; GDB asks for what it got a PacketSize for.
constexpr uint64_t kReadMax = Session::kPacketBytesMax / 2;

void unavailable(std::string& hex, const Register& reg) {
  std::fill_n(hex.begin() + 2 * reg.offset, 2 * reg.size_bytes, 'x');
}

/// Where the pc was not collected, the place of the tracepoint still tells it.
std::string registers_text(const Frame& frame, const RegisterLayout& layout, Endian endian) {
  const FrameBlock* block = find_block(frame, FrameBlock::Kind::Registers);
  const bool whole = block != nullptr && block->bytes.size() == layout.size_bytes;
  Reply text;
  if (whole) text.hex(block->bytes);
  std::string hex = whole ? text.str() : std::string(2 * size_t{layout.size_bytes}, 'x');
  for (uint32_t i = 0; whole && i < layout.registers.size(); ++i)
    if (!register_valid(frame, i)) unavailable(hex, layout.registers[i]);
  const Register* pc = layout.pc();
  const bool has_pc = pc != nullptr && whole && register_valid(frame, *layout.pc_index);
  if (pc != nullptr && !has_pc && frame.pc) {
    uint8_t raw[8];
    const size_t size = std::min<size_t>(pc->size_bytes, sizeof raw);
    store_uint(raw, *frame.pc, size, endian);
    Reply digits;
    digits.hex({raw, size});
    hex.replace(2 * pc->offset, 2 * size, digits.str());
  }
  return hex;
}

/// The collected bytes from `address` to the end of the first block that has it.
Bytes collected(const Frame& frame, uint64_t address) {
  for (const FrameBlock& block : frame.blocks) {
    if (block.kind != FrameBlock::Kind::Memory || address < block.address) continue;
    const uint64_t skip = address - block.address;
    if (skip < block.bytes.size()) return block.bytes.subspan(skip);
  }
  return {};
}

}  // namespace

bool is_known(Bytes known, const RegisterLayout& layout, const Register& one) {
  const auto index = static_cast<size_t>(&one - layout.registers.data());
  return known.empty() || (known[index / 8] >> (index % 8) & 1) != 0;
}

std::string registers_text(Bytes block, Bytes known, const RegisterLayout& layout) {
  std::string hex = to_hex(block);
  for (const Register& one : layout.registers)
    if (!is_known(known, layout, one)) unavailable(hex, one);
  return hex;
}

void read_frame_registers(Session& session, Reply& reply) {
  const auto pid = session.current_pid();
  if (!pid || !session.trace || !session.selected_frame) return reply.error(1);
  const auto frame = session.trace->frames().frame(*session.selected_frame);
  if (!frame) return reply.error(1);
  reply.text(registers_text(*frame, session.target.layout(*pid), session.target.endian()));
}

void read_unknown_registers(Session& session, Reply& reply) {
  const auto pid = session.current_pid();
  if (!pid) return reply.error(1);
  Frame nowhere;
  nowhere.pc = 0;
  reply.text(registers_text(nowhere, session.target.layout(*pid), session.target.endian()));
}

void read_frame_memory(Session& session, uint64_t address, uint64_t size, Reply& reply) {
  if (!session.trace || !session.selected_frame) return reply.error(1);
  const auto frame = session.trace->frames().frame(*session.selected_frame);
  if (!frame) return reply.error(1);
  size = std::min(size, kReadMax);
  if (const Bytes bytes = collected(*frame, address); !bytes.empty() && size > 0) {
    reply.hex(bytes.first(std::min<size_t>(size, bytes.size())));
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
