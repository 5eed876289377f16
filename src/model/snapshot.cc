#include "model/snapshot.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tracewell {

Result<std::optional<std::vector<uint8_t>>> Snapshot::register_value(uint32_t index) {
  using Value = std::optional<std::vector<uint8_t>>;
  const std::vector<Register>& all = layout().registers;
  if (index >= all.size())
    return {Errc::InvalidArgument,
            fmt::format("there is no register {}: there are {}", index, all.size())};
  TW_ASSIGN_OR_RETURN(const RegisterState state, registers());
  if (!state.is_valid(index)) return Value();
  const Register& one = all[index];
  const auto begin = state.block.begin() + one.offset;
  return Value(std::vector<uint8_t>(begin, begin + one.size_bytes));
}

Result<KnownMemory> Snapshot::memory(uint64_t address, size_t size_bytes) {
  KnownMemory out{address, std::vector<uint8_t>(size_bytes), std::vector<ByteState>(size_bytes)};
  TW_RETURN_IF_ERROR(read_memory(address, out.bytes, out.states));
  return out;
}

Result<RegisterState> FrameSnapshot::registers() {
  RegisterState out;
  out.reset(*layout_);
  const FrameBlock* const block = find_block(*frame_, FrameBlock::Kind::Registers);
  if (block != nullptr && block->bytes.size() == layout_->size_bytes)
    for (uint32_t i = 0; i < layout_->registers.size(); ++i)
      if (const Register& one = layout_->registers[i]; register_valid(*frame_, i))
        out.set(*layout_, i, block->bytes.subspan(one.offset, one.size_bytes));
  const Register* const pc = layout_->pc();
  if (pc == nullptr || !frame_->pc || out.is_valid(*layout_->pc_index)) return out;
  std::array<uint8_t, 8> raw{};
  if (pc->size_bytes <= raw.size()) {
    store_uint(raw.data(), *frame_->pc, pc->size_bytes, endian_);
    out.set(*layout_, *layout_->pc_index, Bytes(raw).first(pc->size_bytes));
  }
  return out;
}

// Of blocks that overlap, the first one counts, as for GDB.
Status FrameSnapshot::read_memory(uint64_t address, std::span<uint8_t> bytes,
                                  std::span<ByteState> states) {
  std::ranges::fill(bytes, uint8_t{0});
  std::ranges::fill(states, ByteState::Unknown);
  for (const FrameBlock& block : frame_->blocks) {
    if (block.kind != FrameBlock::Kind::Memory) continue;
    const bool begins_inside = block.address >= address;
    const uint64_t skip = begins_inside ? block.address - address : 0;
    const uint64_t from = begins_inside ? 0 : address - block.address;
    if (skip >= bytes.size() || from >= block.bytes.size()) continue;
    const size_t size =
        static_cast<size_t>(std::min<uint64_t>(bytes.size() - skip, block.bytes.size() - from));
    for (size_t i = 0; i < size; ++i) {
      if (states[skip + i] != ByteState::Unknown) continue;
      bytes[skip + i] = block.bytes[from + i];
      states[skip + i] = ByteState::Told;
    }
  }
  return {};
}

}  // namespace tracewell
