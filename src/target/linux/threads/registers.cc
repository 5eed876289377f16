// Places in the XSAVE area: Intel's manual, volume 1, chapter 13. The tag word is kept there in
// short form (a bit a register: in use); debuggers expect the long one of FSTENV, whose two bits a
// register have to be found out from the registers' contents.
#include "target/linux/threads/registers.h"

#include <algorithm>
#include <cstring>

#include <cpuid.h>

#include "base/endian.h"
#include "machine/x86.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kExtendedAt = 576;  // the first byte behind the XSAVE header
constexpr size_t kBitsAt = 512;   // XSTATE_BV: components that are not in their initial state
constexpr uint64_t kX87 = 1, kSse = 2, kAvx = 4, kOpmask = 0x20, kZmmHigh = 0x40, kHigh16 = 0x80,
                   kPkru = 0x200;

uint64_t read_xcr0() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return kX87 | kSse;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (uint64_t{d} << 32) | a;
}

uint64_t load(Bytes from, size_t at, size_t size) {
  return load_uint(from.data() + at, size, Endian::Little);
}

void store(std::span<uint8_t> to, size_t at, uint64_t value, size_t size) {
  store_uint(to.data() + at, value, size, Endian::Little);
}

/// Tags of one register, physical numbering: 0 valid, 1 zero, 2 special, 3 empty.
unsigned tag_of(Bytes xsave, unsigned physical) {
  if ((xsave[4] >> physical & 1) == 0) return 3;
  const unsigned top = (load(xsave, 2, 2) >> 11) & 7;
  const size_t at = 32 + 16 * ((physical + 8 - top) % 8);
  const uint64_t mantissa = load(xsave, at, 8);
  const uint64_t exponent = load(xsave, at + 8, 2) & 0x7fff;
  if (exponent == 0) return mantissa == 0 ? 1 : 2;
  if (exponent == 0x7fff || (mantissa >> 63) == 0) return 2;
  return 0;
}

}  // namespace

/// A register of the block, and where the kernel has it.
struct KernelRegister {
  const char* name;
  unsigned long long user_regs_struct::*member;
};
namespace {

constexpr KernelRegister kGeneral64[] = {
    {"rax", &user_regs_struct::rax},
    {"rbx", &user_regs_struct::rbx},
    {"rcx", &user_regs_struct::rcx},
    {"rdx", &user_regs_struct::rdx},
    {"rsi", &user_regs_struct::rsi},
    {"rdi", &user_regs_struct::rdi},
    {"rbp", &user_regs_struct::rbp},
    {"rsp", &user_regs_struct::rsp},
    {"r8", &user_regs_struct::r8},
    {"r9", &user_regs_struct::r9},
    {"r10", &user_regs_struct::r10},
    {"r11", &user_regs_struct::r11},
    {"r12", &user_regs_struct::r12},
    {"r13", &user_regs_struct::r13},
    {"r14", &user_regs_struct::r14},
    {"r15", &user_regs_struct::r15},
    {"rip", &user_regs_struct::rip},
    {"orig_rax", &user_regs_struct::orig_rax},
    {"fs_base", &user_regs_struct::fs_base},
    {"gs_base", &user_regs_struct::gs_base},
};
constexpr KernelRegister kGeneral32[] = {
    {"eax", &user_regs_struct::rax}, {"ecx", &user_regs_struct::rcx},
    {"edx", &user_regs_struct::rdx}, {"ebx", &user_regs_struct::rbx},
    {"esp", &user_regs_struct::rsp}, {"ebp", &user_regs_struct::rbp},
    {"esi", &user_regs_struct::rsi}, {"edi", &user_regs_struct::rdi},
    {"eip", &user_regs_struct::rip}, {"orig_eax", &user_regs_struct::orig_rax},
};
constexpr KernelRegister kSmall[] = {
    {"eflags", &user_regs_struct::eflags}, {"cs", &user_regs_struct::cs},
    {"ss", &user_regs_struct::ss},         {"ds", &user_regs_struct::ds},
    {"es", &user_regs_struct::es},         {"fs", &user_regs_struct::fs},
    {"gs", &user_regs_struct::gs},
};

}  // namespace

RegisterMap::RegisterMap(Program program) : features_(read_xcr0()) {
  const bool wide = program == Program::Bits64;
  machine::X86Features has;
  has.avx = (features_ & kAvx) != 0;
  constexpr uint64_t kAvx512 = kOpmask | kZmmHigh | kHigh16;
  has.avx512 = has.avx && (features_ & kAvx512) == kAvx512;
  has.pkeys = (features_ & kPkru) != 0;
  if (!has.avx512) features_ &= ~kAvx512;
  layout_ = wide ? machine::x86_64_layout(has) : machine::i386_layout(has);
  description_ = wide ? machine::x86_64_tdesc(has) : machine::i386_tdesc(has);
  uint32_t a = 0, b = 0, c = 0, d = 0;
  xsave_bytes_ = 576;
  if (__get_cpuid_count(13, 0, &a, &b, &c, &d) != 0) xsave_bytes_ = std::max<size_t>(576, c);
  for (uint32_t i = 2; i < 16; ++i) {
    if (((features_ >> i) & 1) == 0 || __get_cpuid_count(13, i, &a, &b, &c, &d) == 0) continue;
    component_at_[i] = b;
    component_bytes_[i] = a;
    component_aligned_ |= (c >> 1 & 1) << i;
  }
  if (wide) add_general(kGeneral64);
  else add_general(kGeneral32);
  add_general(kSmall);
  st0_at_ = layout_.find("st0")->offset;
  fctrl_at_ = layout_.find("fctrl")->offset;
  x87_end_ = layout_.find("xmm0")->offset;
  find_pieces();
}

/// A 32-bit program's result and number of a system call: negative ones tell the kernel whether,
/// and how, to restart it, and are compared in 64 bits.
void RegisterMap::add_general(std::span<const KernelRegister> names) {
  for (const KernelRegister& one : names) {
    const Register& reg = *layout_.find(one.name);
    if (reg.number >= general_.size()) general_.resize(reg.number + 1);
    const bool is_signed = one.member == &user_regs_struct::rax ||
                           one.member == &user_regs_struct::orig_rax;
    general_[reg.number] = {one.member, reg.offset, reg.size_bytes, is_signed};
  }
}

void RegisterMap::add_piece(uint64_t component, std::string_view first, size_t count,
                            size_t xsave_at, size_t stride) {
  const Register* reg = layout_.find(first);
  if (reg == nullptr) return;
  pieces_.push_back({component, reg->offset, xsave_at, count, reg->size_bytes, stride});
}

void RegisterMap::find_pieces() {
  const size_t vectors = layout_.find("xmm8") != nullptr ? 16 : 8;
  add_piece(kSse, "xmm0", vectors, 160, 16);
  add_piece(kSse, "mxcsr", 1, 24, 4);
  add_piece(kAvx, "ymm0h", vectors, component_at_[2], 16);
  const size_t high = component_at_[7];
  add_piece(kHigh16, "xmm16", 16, high, 64);
  add_piece(kHigh16, "ymm16h", 16, high + 16, 64);
  add_piece(kOpmask, "k0", 8, component_at_[5], 8);
  add_piece(kZmmHigh, "zmm0h", vectors, component_at_[6], 32);
  add_piece(kHigh16, "zmm16h", 16, high + 32, 64);
  add_piece(kPkru, "pkru", 1, component_at_[9], 4);
}

void RegisterMap::x87_to_block(Bytes xsave, std::span<uint8_t> block) const {
  for (size_t i = 0; i < 8; ++i)
    std::memcpy(&block[st0_at_ + 10 * i], &xsave[32 + 16 * i], 10);
  unsigned tags = 0;
  for (unsigned i = 0; i < 8; ++i) tags |= tag_of(xsave, i) << (2 * i);
  const uint64_t control[8] = {
      load(xsave, 0, 2),  load(xsave, 2, 2),  tags,
      load(xsave, 12, 2), load(xsave, 8, 4),  load(xsave, 20, 2),
      load(xsave, 16, 4), load(xsave, 6, 2) & 0x7ff,
  };
  for (size_t i = 0; i < 8; ++i) store(block, fctrl_at_ + 4 * i, control[i], 4);
}

void RegisterMap::x87_from_block(Bytes block, std::span<uint8_t> xsave) const {
  for (size_t i = 0; i < 8; ++i)
    std::memcpy(&xsave[32 + 16 * i], &block[st0_at_ + 10 * i], 10);
  uint64_t control[8];
  for (size_t i = 0; i < 8; ++i) control[i] = load(block, fctrl_at_ + 4 * i, 4);
  store(xsave, 0, control[0], 2);
  store(xsave, 2, control[1], 2);
  uint8_t used = 0;
  for (unsigned i = 0; i < 8; ++i)
    if ((control[2] >> (2 * i) & 3) != 3) used |= uint8_t(1 << i);
  xsave[4] = used;
  store(xsave, 12, control[3], 2);
  store(xsave, 8, control[4], 4);
  store(xsave, 20, control[5], 2);
  store(xsave, 16, control[6], 4);
  store(xsave, 6, control[7], 2);
}

void RegisterMap::to_block(const user_regs_struct& regs, Bytes xsave,
                           std::span<uint8_t> block) const {
  for (const General& one : general_)
    if (one.bytes == 8) store(block, one.block_at, regs.*one.member, 8);
    else if (one.bytes == 4) store(block, one.block_at, regs.*one.member, 4);
  if (xsave.size() < 576) return;
  x87_to_block(xsave, block);
  for (const Piece& piece : pieces_)
    for (size_t i = 0; i < piece.count; ++i) {
      const size_t from = piece.xsave_at + i * piece.stride;
      if (from + piece.bytes > xsave.size()) continue;
      std::memcpy(&block[piece.block_at + i * piece.bytes], &xsave[from], piece.bytes);
    }
}

std::vector<FastSites::VectorPart> RegisterMap::vector_parts(uint64_t components) const {
  std::vector<FastSites::VectorPart> parts = {
      {0, 24, kX87}, {32, 128, kX87}, {24, 8, kSse}, {160, 256, kSse}};
  for (uint32_t i = 2; i < 16; ++i)
    if ((components >> i & 1) != 0)
      parts.push_back({static_cast<uint32_t>(compacted_at(components, i)), component_bytes_[i],
                       uint64_t{1} << i});
  return parts;
}

void RegisterMap::vector_state(uint64_t& components, uint64_t& bytes) const {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kXsavec = 2;
  components = bytes = 0;
  if (__get_cpuid_count(13, 1, &a, &b, &c, &d) == 0 || (a & kXsavec) == 0) return;
  for (const Piece& piece : pieces_) components |= piece.component;
  components |= kX87 | kSse;
  bytes = compacted_at(components, 16);
}

/// Volume 1, 13.2: XGETBV with 1 tells what is in use. The instructions are those of
/// inproc/collect/vector_registers.h.
uint64_t RegisterMap::vectors_direct(uint64_t components) const {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kXgetbv1 = 4;
  if (__get_cpuid_count(13, 1, &a, &b, &c, &d) == 0 || (a & kXgetbv1) == 0) return 0;
  uint64_t direct = kSse | kAvx;  // the second is only in use where there are its instructions
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    if ((b & bit_AVX512F) != 0 && (b & bit_AVX512VL) != 0) direct |= kHigh16;
    if ((b & bit_AVX512BW) != 0) direct |= kOpmask;
    if ((c & bit_OSPKE) != 0) direct |= kPkru;
  }
  return direct & components;
}

/// Where a component begins among those that are stored (volume 1, 13.4.3), or, for 16, their end.
uint64_t RegisterMap::compacted_at(uint64_t components, uint32_t which) const {
  uint64_t at = kExtendedAt;
  for (uint32_t i = 2; i < 16; ++i) {
    if ((components >> i & 1) == 0) continue;
    if ((component_aligned_ >> i & 1) != 0) at = (at + 63) / 64 * 64;
    if (i == which) return at;
    at += component_bytes_[i];
  }
  return at;
}

std::vector<uint8_t> RegisterMap::expand(Bytes compacted) const {
  constexpr uint64_t kCompacted = uint64_t{1} << 63;
  constexpr uint64_t kControlWord = 0x37f, kMxcsr = 0x1f80;  // in their initial states
  if (compacted.size() < kExtendedAt) return {};
  const uint64_t in_use = load(compacted, kBitsAt, 8);
  const uint64_t components = load(compacted, kBitsAt + 8, 8) & ~kCompacted;
  std::vector<uint8_t> out(std::max<size_t>(xsave_bytes_, kExtendedAt));
  store(out, kBitsAt, in_use, 8);
  if ((in_use & kX87) != 0) std::copy_n(compacted.begin(), 160, out.begin());
  else store(out, 0, kControlWord, 2);
  if ((in_use & kSse) != 0) {
    std::copy_n(compacted.begin() + 24, 8, out.begin() + 24);  // MXCSR and its mask
    std::copy_n(compacted.begin() + 160, 256, out.begin() + 160);
  } else {
    store(out, 24, kMxcsr, 4);
  }
  for (uint32_t i = 2; i < 16; ++i) {
    const uint64_t from = compacted_at(components, i), bytes = component_bytes_[i];
    if ((in_use & components & features_ & uint64_t{1} << i) == 0) continue;
    if (from + bytes > compacted.size() || component_at_[i] + bytes > out.size()) return {};
    std::copy_n(compacted.begin() + static_cast<ptrdiff_t>(from), bytes,
                out.begin() + static_cast<ptrdiff_t>(component_at_[i]));
  }
  return out;
}

void RegisterMap::regs_from_block(Bytes block, user_regs_struct& regs) const {
  for (const General& one : general_) {
    if (one.member == nullptr) continue;
    uint64_t value = load(block, one.block_at, one.bytes);
    if (one.is_signed && one.bytes == 4)
      value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    regs.*one.member = value;
  }
}

bool RegisterMap::xsave_from_block(Bytes block, std::span<uint8_t> xsave) const {
  if (xsave.size() < 576) return false;
  std::vector<uint8_t> was(layout_.size_bytes);
  to_block({}, xsave, was);
  uint64_t changed = 0;
  const auto differs = [&](size_t block_at, size_t bytes) {
    return std::memcmp(&block[block_at], &was[block_at], bytes) != 0;
  };
  if (differs(st0_at_, x87_end_ - st0_at_)) {
    x87_from_block(block, xsave);
    changed |= kX87;
  }
  for (const Piece& piece : pieces_) {
    if (!differs(piece.block_at, piece.count * piece.bytes)) continue;
    changed |= piece.component;
    for (size_t i = 0; i < piece.count; ++i) {
      const size_t to = piece.xsave_at + i * piece.stride;
      if (to + piece.bytes > xsave.size()) continue;
      std::memcpy(&xsave[to], &block[piece.block_at + i * piece.bytes], piece.bytes);
    }
  }
  store(xsave, kBitsAt, load(xsave, kBitsAt, 8) | changed, 8);
  return changed != 0;
}

}  // namespace tracewell::target::live
