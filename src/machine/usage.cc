#include "machine/usage.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <Zydis/Zydis.h>

#include "machine/own_code.h"

namespace tracewell::machine {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

class Uses {
 public:
  Uses(Usage& usage, ZydisMachineMode mode) : usage_(usage), mode_(mode) {}

  void add(ZydisRegister one, bool reads, bool writes) {
    switch (ZydisRegisterGetClass(one)) {
      case ZYDIS_REGCLASS_GPR8:
      case ZYDIS_REGCLASS_GPR16:
      case ZYDIS_REGCLASS_GPR32:
      case ZYDIS_REGCLASS_GPR64: return general(one, reads, writes);
      case ZYDIS_REGCLASS_XMM:
      case ZYDIS_REGCLASS_YMM:
      case ZYDIS_REGCLASS_ZMM: return vector(one, reads, writes);
      case ZYDIS_REGCLASS_X87:
        return put({fmt::format("st{}", ZydisRegisterGetId(one)), 0, 0, reads, writes});
      case ZYDIS_REGCLASS_MASK:
        return put({fmt::format("k{}", ZydisRegisterGetId(one)), 0, 0, reads, writes});
      default: return;
    }
  }

 private:
  void general(ZydisRegister one, bool reads, bool writes) {
    const bool high = one >= ZYDIS_REGISTER_AH && one <= ZYDIS_REGISTER_BH;
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(mode_, one);
    const uint32_t bytes = ZydisRegisterGetWidth(mode_, one) / 8;
    put({ZydisRegisterGetString(whole), high ? 1u : 0u, bytes, reads, writes});
  }
  void vector(ZydisRegister one, bool reads, bool writes) {
    const int id = ZydisRegisterGetId(one);
    put({fmt::format("xmm{}", id), 0, 0, reads, writes});
    if (ZydisRegisterGetClass(one) == ZYDIS_REGCLASS_XMM) return;
    put({fmt::format("ymm{}h", id), 0, 0, reads, writes});
    if (ZydisRegisterGetClass(one) == ZYDIS_REGCLASS_ZMM)
      put({fmt::format("zmm{}h", id), 0, 0, reads, writes});
  }
  void put(RegisterUse use) {
    for (RegisterUse& known : usage_.registers) {
      if (known.name != use.name || known.first_byte != use.first_byte) continue;
      known.reads |= use.reads;
      known.writes |= use.writes;
      known.bytes = std::max(known.bytes, use.bytes);
      return;
    }
    usage_.registers.push_back(std::move(use));
  }

  Usage& usage_;
  ZydisMachineMode mode_;
};

/// The result is the same whatever is in the register.
bool clears(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS: break;
    default: return false;
  }
  return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[0].reg.value == operands[1].reg.value;
}

void add_operand(Uses& uses, const ZydisDecodedOperand& operand, bool ignore_reads) {
  const bool reads = !ignore_reads && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) uses.add(operand.reg.value, reads, writes);
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return;
  uses.add(operand.mem.base, true, false);
  uses.add(operand.mem.index, true, false);
}

}  // namespace

Usage usage_of(Bytes opcode, uint32_t address_bytes) {
  Usage out;
  const bool is_64 = address_bytes == 8;
  const ZydisMachineMode mode =
      is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  const OwnCode own(opcode);
  if (ZYAN_FAILED(ZydisDecoderInit(&decoder, mode,
                                   is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
      ZYAN_FAILED(
          ZydisDecoderDecodeFull(&decoder, own.data(), own.size(), &instruction, operands)))
    return out;
  out.known = true;
  Uses uses(out, mode);
  const bool ignore_reads = clears(instruction, operands);
  for (uint8_t i = 0; i < instruction.operand_count; ++i)
    add_operand(uses, operands[i], ignore_reads);
  if (instruction.cpu_flags != nullptr) {
    const ZydisAccessedFlags& flags = *instruction.cpu_flags;
    out.flags_read = flags.tested;
    out.flags_written = flags.modified | flags.set_0 | flags.set_1 | flags.undefined;
  }
  return out;
}

std::optional<RegisterPart> register_part(std::string_view name) {
  if (name == "eip") return RegisterPart{{"rip", ""}, 0, 4};
  if (name == "ip") return RegisterPart{{"rip", "eip"}, 0, 2};
  for (int one = ZYDIS_REGISTER_AL; one <= ZYDIS_REGISTER_R15D; ++one) {
    const auto part = static_cast<ZydisRegister>(one);
    if (name != ZydisRegisterGetString(part)) continue;
    const bool high = part >= ZYDIS_REGISTER_AH && part <= ZYDIS_REGISTER_BH;
    RegisterPart out;
    out.in[0] = ZydisRegisterGetString(
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part));
    const ZydisRegister narrow =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LEGACY_32, part);
    const bool only_wide = part >= ZYDIS_REGISTER_SPL && part <= ZYDIS_REGISTER_DIL;
    if (narrow != ZYDIS_REGISTER_NONE && !only_wide) out.in[1] = ZydisRegisterGetString(narrow);
    out.first_byte = high ? 1 : 0;
    out.bytes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, part) / 8;
    return out;
  }
  return std::nullopt;
}

Bytes bytes_of(const RegisterPlace& place, Bytes whole, Endian endian) {
  if (place.bytes == 0 || place.first_byte + place.bytes > whole.size()) return whole;
  return whole.subspan(endian == Endian::Little ? place.first_byte
                                                : whole.size() - place.first_byte - place.bytes,
                       place.bytes);
}

std::optional<RegisterPlace> find_register(const RegisterLayout& layout, std::string_view name) {
  constexpr uint32_t kGeneralBytesMax = 8;
  const auto place = [&](const Register& one) {
    return RegisterPlace{static_cast<uint32_t>(&one - layout.registers.data()), 0, 0, one.name};
  };
  if (const Register* found = layout.find(name)) return place(*found);
  const std::string wanted = lower(name);
  for (const Register& one : layout.registers)
    if (lower(one.name) == wanted) return place(one);
  const auto part = register_part(wanted);
  if (!part) return std::nullopt;
  for (const std::string& whole : part->in) {
    const Register* found = layout.find(whole);
    if (found != nullptr && found->size_bytes <= kGeneralBytesMax)
      return RegisterPlace{place(*found).index, part->first_byte, part->bytes, wanted};
  }
  return std::nullopt;
}

}  // namespace tracewell::machine
