#include "machine/code_instruction.h"

#include <array>

#include <Zydis/Zydis.h>

#include "base/check.h"
#include "base/endian.h"
#include "machine/own_code.h"

namespace tracewell::machine {
namespace {

using CodeFlow = CodeInstruction::Flow;
using Through = CodeInstruction::Through;

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder decoder;
    TW_CHECK(ZYAN_SUCCESS(
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    return decoder;
  }();
  return made;
}

bool is_system(const ZydisDecodedInstruction& zydis) {
  switch (zydis.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return true;
    case ZYDIS_MNEMONIC_INT:
      return zydis.raw.imm[0].value.u == 0x80;
    default:
      return false;
  }
}

bool stops(const ZydisDecodedInstruction& zydis) {
  switch (zydis.mnemonic) {
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
      return true;
    default:
      return false;
  }
}

/// By category, except that Zydis counts the ends of transactions among the branches.
CodeFlow flow_of(const ZydisDecodedInstruction& zydis) {
  if (is_system(zydis)) return CodeFlow::System;
  if (stops(zydis)) return CodeFlow::Stop;
  switch (zydis.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return CodeFlow::Call;
    case ZYDIS_CATEGORY_RET:
      return CodeFlow::Return;
    case ZYDIS_CATEGORY_COND_BR:
      return zydis.raw.imm[0].is_relative ? CodeFlow::Conditional : CodeFlow::Onward;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return zydis.mnemonic == ZYDIS_MNEMONIC_JMP ? CodeFlow::Jump : CodeFlow::Onward;
    default:
      return CodeFlow::Onward;
  }
}

/// Of a Kind.
enum Trait : uint16_t {
  kNop = 1,
  kInt3 = 2,
  kEndbr = 4,
  kAddressOf = 8,
  kMovsxd = 16,
  kRelative = 32,
  kModrm = 64,
};

/// The parts of an instruction that tell where it leads.
struct Parts {
  bool modrm = false;
  uint8_t mod = 0, rm = 0, scale = 0, base = 0;
  int64_t displacement = 0, immediate = 0;

  void take_modrm(const uint8_t* at) {
    modrm = true;
    mod = *at >> 6;
    rm = *at & 7;
    if (mod != 3 && rm == 4) scale = at[1] >> 6, base = at[1] & 7;
  }
  bool has_memory() const { return modrm && mod != 3; }
  bool is_rip_relative() const { return has_memory() && mod == 0 && rm == 5; }
  bool is_indexed(int log2_scale) const { return has_memory() && rm == 4 && scale == log2_scale; }
};

Parts parts_of(const ZydisDecodedInstruction& zydis) {
  return {(zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0,
          zydis.raw.modrm.mod,
          zydis.raw.modrm.rm,
          zydis.raw.sib.scale,
          zydis.raw.sib.base,
          zydis.raw.disp.value,
          zydis.raw.imm[0].value.s};
}

CodeDecoder::Kind kind_of(const ZydisDecodedInstruction& zydis) {
  CodeDecoder::Kind out;
  out.flow = flow_of(zydis);
  const auto add = [&](bool has, Trait trait) { out.traits |= has ? trait : 0; };
  add(zydis.mnemonic == ZYDIS_MNEMONIC_NOP, kNop);
  add(zydis.mnemonic == ZYDIS_MNEMONIC_INT3, kInt3);
  add(zydis.mnemonic == ZYDIS_MNEMONIC_ENDBR64, kEndbr);
  add(zydis.mnemonic == ZYDIS_MNEMONIC_LEA, kAddressOf);
  add(zydis.mnemonic == ZYDIS_MNEMONIC_MOVSXD, kMovsxd);
  add(zydis.raw.imm[0].is_relative, kRelative);
  add((zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0, kModrm);
  return out;
}

void find_target(const Parts& parts, bool relative, uint64_t next, CodeInstruction& out) {
  if (relative) {
    out.target = next + static_cast<uint64_t>(parts.immediate);
    return;
  }
  if (out.flow != CodeFlow::Jump && out.flow != CodeFlow::Call) return;
  if (!parts.has_memory()) {
    out.through = Through::Register;
  } else if (parts.is_rip_relative()) {
    out.through = Through::Pointer;
  } else if (parts.is_indexed(3) && parts.mod == 0 && parts.base == 5) {
    out.through = Through::Table;
    out.table = static_cast<uint64_t>(parts.displacement);
  } else {
    out.through = Through::Memory;
  }
}

CodeInstruction made_of(const CodeDecoder::Kind& kind, const Parts& parts, uint8_t length,
                        uint64_t pc) {
  CodeInstruction out;
  out.length = length;
  out.flow = kind.flow;
  out.nop = (kind.traits & kNop) != 0;
  out.int3 = (kind.traits & kInt3) != 0;
  out.endbr = (kind.traits & kEndbr) != 0;
  out.address_of = (kind.traits & kAddressOf) != 0;
  out.table_load = (kind.traits & kMovsxd) != 0 && parts.is_indexed(2);
  find_target(parts, (kind.traits & kRelative) != 0, pc + length, out);
  if (parts.is_rip_relative() && !out.nop)
    out.named = pc + length + static_cast<uint64_t>(parts.displacement);
  return out;
}

std::optional<ZydisDecodedInstruction> decoded(const OwnCode& own) {
  ZydisDecodedInstruction zydis;
  ZydisDecoderContext context;
  if (ZYAN_FAILED(
          ZydisDecoderDecodeInstruction(&decoder(), &context, own.data(), own.size(), &zydis)))
    return std::nullopt;
  return zydis;
}

/// Prefixes, vectors' own encodings, and `int`, which is looked at by its number: all of these are
/// decoded each time.
constexpr std::array<bool, 256> kOwnWays = [] {
  std::array<bool, 256> out{};
  for (const int byte : {0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67, 0x8f, 0xc4, 0xc5,
                         0xcd, 0xf0, 0xf2, 0xf3})
    out[static_cast<size_t>(byte)] = true;
  for (size_t rex = 0x40; rex < 0x50; ++rex) out[rex] = true;
  return out;
}();

constexpr size_t kKnownBits = 15;
constexpr uint8_t kNoModrm = 1, kHasModrm = 2;  // of a form

/// What is in front of an instruction's operands: one of three prefixes or none, REX, and an opcode
/// of one byte or of two.
struct Head {
  uint32_t form = 0;  // 16 bits
  size_t bytes = 0;   // 0: it is decoded in its own way
};

Head head_of(const OwnCode& own) {
  const uint8_t* const data = own.data();
  const size_t size = own.size();
  size_t at = 0;
  uint32_t prefix = 0, rex = 0, map = 0;
  const auto is_at = [&](uint8_t byte) { return at < size && data[at] == byte; };
  if (is_at(0x66)) prefix = 1, ++at;
  else if (is_at(0xf2)) prefix = 2, ++at;
  else if (is_at(0xf3)) prefix = 3, ++at;
  if (at < size && (data[at] & 0xf0) == 0x40) rex = 0x10 | (data[at++] & 0xfu);
  if (is_at(0x0f)) map = 1, ++at;
  if (at >= size) return {};
  const uint8_t opcode = data[at++];
  const bool longer = opcode == 0x0f || opcode == 0x38 || opcode == 0x3a;
  if (map == 0 ? kOwnWays[opcode] : longer) return {};
  return {prefix << 14 | rex << 9 | map << 8 | opcode, at};
}

int64_t signed_number(const uint8_t* at, size_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  return static_cast<int64_t>(load_uint(at, bytes, Endian::Little) << unused) >> unused;
}

/// How long a ModRM byte, and what it says that follows, is; the displacement's part of that.
struct Operands {
  size_t bytes = 0, displacement_bytes = 0;
};

Operands operands_of(const uint8_t* modrm, size_t left) {
  const unsigned mod = *modrm >> 6, rm = *modrm & 7;
  if (mod == 3) return {1, 0};
  const bool sib = rm == 4;
  const bool no_base = mod == 0 && (sib ? left > 1 && (modrm[1] & 7) == 5 : rm == 5);
  const size_t displacement = mod == 1 ? 1 : mod == 2 || no_base ? 4 : 0;
  return {1 + size_t{sib} + displacement, displacement};
}

}  // namespace

CodeInstruction decode_code(Bytes code, uint64_t pc) {
  const auto zydis = decoded(OwnCode(code));
  if (!zydis) return {};
  return made_of(kind_of(*zydis), parts_of(*zydis), zydis->length, pc);
}

CodeDecoder::CodeDecoder() : known_(size_t{1} << kKnownBits), forms_(size_t{1} << 16) {}

CodeInstruction CodeDecoder::decode(Bytes code, uint64_t pc) {
  const OwnCode own(code);
  const Head head = head_of(own);
  if (head.bytes == 0) return find_out(own, pc, nullptr);
  const size_t left = own.size() - head.bytes;
  const uint8_t* const modrm = own.data() + head.bytes;
  Shape shape{head.form, head.form << 8, head.bytes, 0};
  if (forms_[head.form] == kHasModrm) {
    if (left == 0) return find_out(own, pc, nullptr);
    const Operands operands = operands_of(modrm, left);
    shape.key |= *modrm;
    shape.bytes += operands.bytes;
    shape.displacement_bytes = operands.displacement_bytes;
  }
  ++shape.key;
  const Known& known = known_at(shape.key);
  const size_t length = shape.bytes + known.kind.immediate_bytes;
  if (known.key != shape.key || length > own.size()) return find_out(own, pc, &shape);
  Parts parts;
  if ((known.kind.traits & kModrm) != 0) parts.take_modrm(modrm);
  if (shape.displacement_bytes != 0)
    parts.displacement = signed_number(own.data() + shape.bytes - shape.displacement_bytes,
                                       shape.displacement_bytes);
  if ((known.kind.traits & kRelative) != 0)
    parts.immediate = signed_number(own.data() + shape.bytes, known.kind.immediate_bytes);
  return made_of(known.kind, parts, static_cast<uint8_t>(length), pc);
}

/// The first of a form tells whether it has a ModRM byte, and those behind it the rest.
CodeInstruction CodeDecoder::find_out(const OwnCode& own, uint64_t pc, const Shape* shape) {
  ++found_out_;
  const auto zydis = decoded(own);
  if (!zydis) return {};
  Kind kind = kind_of(*zydis);
  const uint8_t form = (kind.traits & kModrm) != 0 ? kHasModrm : kNoModrm;
  if (shape != nullptr && forms_[shape->form] == 0) {
    forms_[shape->form] = form;
  } else if (shape != nullptr && forms_[shape->form] == form && zydis->length >= shape->bytes) {
    kind.immediate_bytes = static_cast<uint8_t>(zydis->length - shape->bytes);
    known_at(shape->key) = {shape->key, kind};
  }
  return made_of(kind, parts_of(*zydis), zydis->length, pc);
}

CodeDecoder::Known& CodeDecoder::known_at(uint32_t key) {
  return known_[(key * 0x9e3779b1u) >> (32 - kKnownBits)];
}

}  // namespace tracewell::machine
