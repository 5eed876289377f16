#include "machine/operands.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <Zydis/Zydis.h>

#include "base/check.h"

namespace tracewell::machine {
namespace {

constexpr size_t kSlots = 1 << 12;  // remembered instructions; a power of two

int8_t number_of(ZydisRegister one) {
  if (one == ZYDIS_REGISTER_NONE) return -1;
  if (one == ZYDIS_REGISTER_RIP || one == ZYDIS_REGISTER_EIP || one == ZYDIS_REGISTER_IP)
    return MemoryOperand::kIp;
  const ZydisRegisterClass kind = ZydisRegisterGetClass(one);
  if (kind == ZYDIS_REGCLASS_GPR64 || kind == ZYDIS_REGCLASS_GPR32 || kind == ZYDIS_REGCLASS_GPR16)
    return ZydisRegisterGetId(one);
  return -1;
}

bool is_prefetch(const ZydisDecodedInstruction& instruction) {
  return instruction.meta.category == ZYDIS_CATEGORY_PREFETCH ||
         instruction.meta.category == ZYDIS_CATEGORY_PREFETCHWT1;
}

/// Does a register say which elements are stored or loaded?
bool is_masked(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default: break;
  }
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
         instruction.avx.mask.reg != ZYDIS_REGISTER_NONE &&
         instruction.avx.mask.reg != ZYDIS_REGISTER_K0;
}

/// The register of a bit test, where it counts from the operand on without end.
int8_t bit_offset_of(const ZydisDecodedInstruction& instruction,
                     const ZydisDecodedOperand* operands) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC: break;
    default: return -1;
  }
  if (instruction.operand_count < 2 || operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER) return -1;
  return number_of(operands[1].reg.value);
}

MemoryOperand memory_operand(const ZydisDecodedInstruction& instruction,
                             const ZydisDecodedOperand& operand) {
  MemoryOperand out;
  out.size = operand.size / 8;
  out.reads = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  out.writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  out.hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  out.vector_index = operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB;
  if (operand.mem.segment == ZYDIS_REGISTER_FS) out.segment = MemoryOperand::Segment::Fs;
  if (operand.mem.segment == ZYDIS_REGISTER_GS) out.segment = MemoryOperand::Segment::Gs;
  out.base = number_of(operand.mem.base);
  out.index = number_of(operand.mem.index);
  out.scale = operand.mem.scale;
  out.displacement = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
  out.address_bits = instruction.address_width;
  if (instruction.mnemonic == ZYDIS_MNEMONIC_XLAT) {  // the decoder has al as another operand
    out.index = 0;
    out.byte_index = true;
    out.scale = 1;
  }
  out.masked = is_masked(instruction);
  if (is_prefetch(instruction)) out.reads = out.writes = false;
  return out;
}

Instruction::Stack stack_of(const ZydisDecodedInstruction& instruction) {
  using Stack = Instruction::Stack;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSHA:
    case ZYDIS_MNEMONIC_PUSHAD: return Stack::PushAll;
    case ZYDIS_MNEMONIC_POPA:
    case ZYDIS_MNEMONIC_POPAD: return Stack::PopAll;
    case ZYDIS_MNEMONIC_ENTER: return Stack::Enter;
    case ZYDIS_MNEMONIC_LEAVE: return Stack::Leave;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ: return Stack::Other;
    default: break;
  }
  const bool is_far = instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_PUSH: return Stack::Push;
    case ZYDIS_CATEGORY_POP: return Stack::Pop;
    case ZYDIS_CATEGORY_CALL: return is_far ? Stack::Other : Stack::Call;
    case ZYDIS_CATEGORY_RET: return is_far ? Stack::Other : Stack::Return;
    default: return Stack::None;
  }
}

bool may_branch(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM: return true;
    default: return false;
  }
}

/// Operands that no memory is accessed through: those of NOPs, prefetches and address
/// computations.
bool is_address_only(const ZydisDecodedInstruction& instruction,
                     const ZydisDecodedOperand& operand) {
  return operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
         instruction.meta.category == ZYDIS_CATEGORY_NOP ||
         instruction.meta.category == ZYDIS_CATEGORY_WIDENOP;
}

Instruction decode_with(const ZydisDecoder& decoder, Bytes opcode) {
  Instruction out;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (ZYAN_FAILED(
          ZydisDecoderDecodeFull(&decoder, opcode.data(), opcode.size(), &instruction, operands)))
    return out;
  out.length = instruction.length;
  out.branches = may_branch(instruction);
  out.repeats = (instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                                           ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  out.stack = stack_of(instruction);
  for (uint8_t i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || is_address_only(instruction, operand))
      continue;
    if (out.count < out.memory.size())
      out.memory[out.count++] = memory_operand(instruction, operand);
    if (i == 0) out.memory[0].bit_offset = bit_offset_of(instruction, operands);
    if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) out.stack_bytes = operand.size / 8;
  }
  return out;
}

}  // namespace

uint64_t bit_offset_bytes(const MemoryOperand& operand, const AddressState& state) {
  if (operand.bit_offset < 0 || operand.size == 0) return 0;
  const uint32_t bits = operand.size * 8, unused = 64 - std::min(bits, 64u);
  const uint64_t value = state.general[static_cast<size_t>(operand.bit_offset)];
  const auto offset = static_cast<int64_t>(value << unused) >> unused;
  return static_cast<uint64_t>(offset >> std::countr_zero(bits)) * operand.size;
}

uint64_t effective_address(const MemoryOperand& operand, const AddressState& state,
                           uint8_t length) {
  uint64_t address = static_cast<uint64_t>(operand.displacement);
  auto value = [&](int8_t number) {
    return number == MemoryOperand::kIp ? state.pc + length
                                        : state.general[static_cast<size_t>(number)];
  };
  if (operand.base >= 0) address += value(operand.base);
  if (operand.index >= 0) {
    const uint64_t index = value(operand.index);
    address += (operand.byte_index ? index & 0xff : index) * operand.scale;
  }
  return operand.address_bits == 64 ? address
                                    : address & ((uint64_t{1} << operand.address_bits) - 1);
}

struct InstructionDecoder::Tables {
  /// An instruction's bytes, up to the 15 that it may have, and how many they are.
  struct Key {
    uint64_t low = 0, high = ~uint64_t{0};
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    Instruction instruction;
  };
  static Key key_of(Bytes opcode);
  ZydisDecoder decoder;
  std::vector<Slot> slots = std::vector<Slot>(kSlots);
};

/// In two loads, where copying them takes a call.
InstructionDecoder::Tables::Key InstructionDecoder::Tables::key_of(Bytes opcode) {
  const auto word_at = [](const uint8_t* at, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, at, size);
    return word;
  };
  const uint8_t* at = opcode.data();
  const size_t size = std::min<size_t>(opcode.size(), 15);
  const uint64_t count = uint64_t{size} << 56;
  if (size > 8) return {word_at(at, 8), count | word_at(at + size - 8, 8) >> 8 * (16 - size)};
  if (size == 8) return {word_at(at, 8), count};
  if (size >= 4) return {word_at(at, 4) | word_at(at + size - 4, 4) << 8 * (size - 4), count};
  if (size >= 2) return {word_at(at, 2) | word_at(at + size - 2, 2) << 8 * (size - 2), count};
  return {size == 0 ? 0 : word_at(at, 1), count};
}

InstructionDecoder::InstructionDecoder(bool wide) : tables_(std::make_unique<Tables>()) {
  const bool good = ZYAN_SUCCESS(ZydisDecoderInit(
      &tables_->decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
      wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32));
  TW_CHECK(good);
}

InstructionDecoder::~InstructionDecoder() = default;
InstructionDecoder::InstructionDecoder(InstructionDecoder&&) noexcept = default;

const Instruction& InstructionDecoder::decode(Bytes opcode) {
  const Tables::Key key = Tables::key_of(opcode);
  const uint64_t hash = (key.low ^ key.high * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  Tables::Slot& slot = tables_->slots[hash >> 32 & (kSlots - 1)];
  if (slot.key != key) {
    // By the key, which stays what it is: the opcode may stand in a file that is written to.
    std::array<uint8_t, 16> code;
    std::memcpy(code.data(), &key.low, 8);
    std::memcpy(code.data() + 8, &key.high, 8);
    slot.key = key;
    slot.instruction =
        decode_with(tables_->decoder, Bytes(code).first(std::min<size_t>(opcode.size(), 15)));
  }
  return slot.instruction;
}

}  // namespace tracewell::machine
