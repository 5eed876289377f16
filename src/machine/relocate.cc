// Flags are never touched, no register is borrowed, and memory below the stack pointer is written
// only where the original itself writes its return address.
#include "machine/relocate.h"

#include <Zydis/Zydis.h>

#include "base/endian.h"

namespace tracewell::machine {
namespace {

using Code = std::vector<uint8_t>;

enum class Mode : uint8_t { Bits32, Bits64 };

std::optional<ZydisDecodedInstruction> decode(Bytes code, Mode mode) {
  ZydisDecoder decoder;
  const bool wide = mode == Mode::Bits64;
  if (ZYAN_FAILED(ZydisDecoderInit(
          &decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
          wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)))
    return std::nullopt;
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, &context, code.data(), code.size(),
                                                &instruction)))
    return std::nullopt;
  return instruction;
}

std::optional<uint32_t> as_disp32(uint64_t target, uint64_t from) {
  const int64_t distance = static_cast<int64_t>(target - from);
  if (distance != static_cast<int32_t>(distance)) return std::nullopt;
  return static_cast<uint32_t>(distance);
}

/// Collects the copy's bytes and points.
class Copy {
 public:
  Copy(uint64_t to, uint8_t length, Mode mode) : to_(to), mode_(mode) {
    result_.how = DisplacedCode::How::Copy;
    result_.length = length;
  }

  void not_done(uint8_t sp_undo) { point({offset(), false, 0, sp_undo}); }
  void done(uint64_t pc) { point({offset(), true, pc, 0}); }
  void bytes(Bytes bytes) {
    result_.code.insert(result_.code.end(), bytes.begin(), bytes.end());
  }
  void uint32(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) result_.code.push_back(uint8_t(value >> shift));
  }
  void byte(uint8_t value) { result_.code.push_back(value); }
  /// A displacement whose field is followed by `after` bytes of the same instruction. That of
  /// 32-bit code reaches everything: the processor cuts the sum to 32 bits.
  void relative(uint64_t target, size_t after = 0) {
    const uint64_t end = to_ + result_.code.size() + 4 + after;
    if (mode_ == Mode::Bits32) return uint32(static_cast<uint32_t>(target - end));
    const auto disp = as_disp32(target, end);
    if (!disp) out_of_reach_ = true;
    uint32(disp.value_or(0));
  }
  /// A jump that is not part of the original: the thread stands behind it already.
  void jump_done(uint64_t target) {
    done(target);
    byte(0xe9);
    relative(target);
  }
  uint8_t offset() const { return static_cast<uint8_t>(result_.code.size()); }
  Code& code() { return result_.code; }

  DisplacedCode take() {
    if (!out_of_reach_) return std::move(result_);
    DisplacedCode none;
    none.length = result_.length;
    return none;
  }

 private:
  void point(CopyPoint point) { result_.points.push_back(point); }
  uint64_t to_;
  Mode mode_;
  DisplacedCode result_;
  bool out_of_reach_ = false;
};

struct Original {
  const ZydisDecodedInstruction& zydis;
  Bytes bytes;  // exactly the instruction
  uint64_t from = 0;
  Mode mode = Mode::Bits64;

  bool wide() const { return mode == Mode::Bits64; }
  uint8_t word_bytes() const { return wide() ? 8 : 4; }
  uint64_t within(uint64_t address) const { return wide() ? address : uint32_t(address); }
  uint64_t next() const { return within(from + bytes.size()); }
  bool relative_branch() const { return zydis.raw.imm[0].is_relative; }
  uint64_t branch_target() const {
    return within(next() + static_cast<uint64_t>(zydis.raw.imm[0].value.s));
  }
  bool has_memory() const {
    return (zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && zydis.raw.modrm.mod != 3;
  }
  bool rip_relative() const {
    return wide() && has_memory() && zydis.raw.modrm.mod == 0 && zydis.raw.modrm.rm == 5;
  }
  uint64_t rip_target() const {
    return next() + static_cast<uint64_t>(zydis.raw.disp.value);
  }
  /// The stack pointer is the base of the memory operand.
  bool sp_based() const {
    return has_memory() && zydis.address_width != 16 && zydis.raw.modrm.rm == 4 &&
           zydis.raw.sib.base == 4 && rex_b() == 0;
  }
  int rex_b() const {
    return zydis.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? zydis.raw.rex.B : 0;
  }
  bool far() const { return zydis.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR; }
};

/// The instruction itself, a rip-relative operand aimed at its old target.
void verbatim(const Original& original, Copy& copy) {
  if (!original.rip_relative()) return copy.bytes(original.bytes);
  const size_t at = original.zydis.raw.disp.offset;
  copy.bytes(original.bytes.first(at));
  const Bytes rest = original.bytes.subspan(at + 4);
  copy.relative(original.rip_target(), rest.size());
  copy.bytes(rest);
}

/// A conditional branch, long form: only jcc has one. LOOP and JRCXZ jump to a long jump.
void conditional(const Original& original, Copy& copy) {
  const uint64_t target = original.branch_target();
  copy.not_done(0);
  const uint8_t opcode = original.zydis.opcode;
  if (original.zydis.opcode_map == ZYDIS_OPCODE_MAP_0F || (opcode & 0xf0) == 0x70) {
    copy.byte(0x0f);
    copy.byte(0x80 | (opcode & 0x0f));
    copy.relative(target);
    copy.jump_done(original.next());
    return;
  }
  copy.bytes(original.bytes.first(original.bytes.size() - 1));  // with its prefixes
  copy.byte(5);                                                 // over the next jump
  copy.jump_done(original.next());
  copy.jump_done(target);
}

void push_return_address(const Original& original, Copy& copy) {
  const uint64_t address = original.next();
  copy.byte(0x68);  // push imm32, sign-extended to 64 bits
  copy.uint32(static_cast<uint32_t>(address));
  if (!original.wide()) return;
  if (static_cast<uint64_t>(int64_t{static_cast<int32_t>(address)}) == address) return;
  copy.not_done(8);
  copy.bytes(Code{0xc7, 0x44, 0x24, 0x04});  // mov dword [rsp+4], imm32
  copy.uint32(static_cast<uint32_t>(address >> 32));
}

/// CALL through memory: a JMP through the same operand. The push has moved the stack pointer, so an
/// operand based on it gets a word more, and one that lies in the pushed slot is lost.
bool jump_through(const Original& original, Copy& copy) {
  const auto& raw = original.zydis.raw;
  const size_t modrm_at = raw.modrm.offset;
  if (!original.sp_based()) {
    const size_t start = copy.code().size();
    verbatim(original, copy);
    copy.code()[start + modrm_at] = uint8_t((copy.code()[start + modrm_at] & ~0x38) | (4 << 3));
    return true;
  }
  const int64_t disp = raw.disp.value;
  const int word = original.word_bytes();
  if (disp > -2 * word && disp < 0) return false;
  if (disp + word != static_cast<int32_t>(disp + word)) return false;
  copy.bytes(original.bytes.first(modrm_at));
  copy.byte(0x80 | (4 << 3) | 4);  // disp32, JMP, SIB
  copy.byte(original.bytes[raw.sib.offset]);
  copy.uint32(static_cast<uint32_t>(disp + word));
  return true;
}

bool call(const Original& original, Copy& copy) {
  copy.not_done(0);
  push_return_address(original, copy);
  if (original.relative_branch()) {
    copy.jump_done(original.branch_target());
    return true;
  }
  copy.not_done(original.word_bytes());
  if (original.has_memory()) return jump_through(original, copy);
  const auto& modrm = original.zydis.raw.modrm;
  if (modrm.rm == 4 && original.rex_b() == 0) return false;  // call rsp
  const size_t at = copy.code().size() + modrm.offset;
  copy.bytes(original.bytes);
  copy.code()[at] = uint8_t((copy.code()[at] & ~0x38) | (4 << 3));
  return true;
}

/// By opcode: whether SYSCALL exists in 32-bit code depends on who made the processor.
bool is_system_call(const Original& original) {
  const ZydisDecodedInstruction& zydis = original.zydis;
  if (zydis.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return false;
  if (zydis.opcode_map == ZYDIS_OPCODE_MAP_0F) return zydis.opcode == 0x05 || zydis.opcode == 0x34;
  return zydis.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zydis.opcode == 0xcd &&
         zydis.raw.imm[0].value.u == 0x80;
}

/// Near branches with a 16-bit operand: Intel ignores the prefix, AMD cuts the target.
bool is_short_branch(const Original& original) {
  if (original.zydis.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE || original.far()) return false;
  const auto& raw = original.zydis.raw;
  if (raw.rex.W != 0) return false;
  for (size_t i = 0; i < raw.prefix_count; ++i)
    if (raw.prefixes[i].value == 0x66) return true;
  return false;
}

/// What a copy cannot do: code addresses as data of the processor (transactions, far calls),
/// 32-bit rip-relative addresses.
bool is_immovable(const Original& original) {
  const ZydisDecodedInstruction& zydis = original.zydis;
  if (zydis.mnemonic == ZYDIS_MNEMONIC_XBEGIN) return true;
  if (zydis.meta.category == ZYDIS_CATEGORY_CALL && original.far()) return true;
  if (is_short_branch(original)) return true;
  return original.rip_relative() && zydis.address_width != 64;
}

bool build(const Original& original, Copy& copy) {
  const ZydisDecodedInstruction& zydis = original.zydis;
  if (zydis.meta.category == ZYDIS_CATEGORY_CALL) return call(original, copy);
  if (original.relative_branch() && zydis.meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
    copy.not_done(0);
    copy.byte(0xe9);
    copy.relative(original.branch_target());
    return true;
  }
  if (original.relative_branch()) {
    conditional(original, copy);
    return true;
  }
  copy.not_done(0);
  verbatim(original, copy);
  const bool leaves = zydis.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
                      (zydis.meta.category == ZYDIS_CATEGORY_RET &&
                       zydis.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE);
  if (!leaves) copy.jump_done(original.next());
  return true;
}

DisplacedCode displace(Bytes original, uint64_t from, uint64_t to, Mode mode) {
  DisplacedCode none;
  const auto zydis = decode(original, mode);
  if (!zydis) return none;
  none.length = zydis->length;
  const Original one{*zydis, original.first(zydis->length), from, mode};
  if (is_system_call(one)) {
    none.how = DisplacedCode::How::SystemCall;
    return none;
  }
  if (is_immovable(one)) return none;
  Copy copy(to, zydis->length, mode);
  if (!build(one, copy)) return none;
  return copy.take();
}

}  // namespace

const CopyPoint* DisplacedCode::find(size_t offset) const {
  for (const CopyPoint& point : points)
    if (point.offset == offset) return &point;
  return nullptr;
}

DisplacedCode displace_x86_64(Bytes original, uint64_t from, uint64_t to) {
  return displace(original, from, to, Mode::Bits64);
}

DisplacedCode displace_i386(Bytes original, uint64_t from, uint64_t to) {
  return displace(original, from, to, Mode::Bits32);
}

}  // namespace tracewell::machine
