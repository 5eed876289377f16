// Places in the XSAVE area: Intel's manual, volume 1, chapter 13. The tag word is kept there in
// short form (a bit a register: in use); debuggers expect the long one of FSTENV, whose two bits a
// register have to be found out from the registers' contents.
#include "target/linux/registers.h"

#include <algorithm>
#include <cstring>

#include <cpuid.h>

#include "base/endian.h"
#include "machine/x86.h"

namespace tracewell::target::live {
namespace {

namespace x86 = machine::x86_64;

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

void x87_to_block(Bytes xsave, std::span<uint8_t> block) {
  for (size_t i = 0; i < 8; ++i)
    std::memcpy(&block[x86::kSt0Offset + 10 * i], &xsave[32 + 16 * i], 10);
  unsigned tags = 0;
  for (unsigned i = 0; i < 8; ++i) tags |= tag_of(xsave, i) << (2 * i);
  const uint64_t control[8] = {
      load(xsave, 0, 2),  load(xsave, 2, 2),  tags,
      load(xsave, 12, 2), load(xsave, 8, 4),  load(xsave, 20, 2),
      load(xsave, 16, 4), load(xsave, 6, 2) & 0x7ff,
  };
  for (size_t i = 0; i < 8; ++i) store(block, x86::kFctrlOffset + 4 * i, control[i], 4);
}

void x87_from_block(Bytes block, std::span<uint8_t> xsave) {
  for (size_t i = 0; i < 8; ++i)
    std::memcpy(&xsave[32 + 16 * i], &block[x86::kSt0Offset + 10 * i], 10);
  uint64_t control[8];
  for (size_t i = 0; i < 8; ++i) control[i] = load(block, x86::kFctrlOffset + 4 * i, 4);
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

/// Block order of the integer registers that are not rip, eflags or segments.
constexpr unsigned long long user_regs_struct::*kGeneral[] = {
    &user_regs_struct::rax, &user_regs_struct::rbx, &user_regs_struct::rcx, &user_regs_struct::rdx,
    &user_regs_struct::rsi, &user_regs_struct::rdi, &user_regs_struct::rbp, &user_regs_struct::rsp,
    &user_regs_struct::r8,  &user_regs_struct::r9,  &user_regs_struct::r10, &user_regs_struct::r11,
    &user_regs_struct::r12, &user_regs_struct::r13, &user_regs_struct::r14, &user_regs_struct::r15,
    &user_regs_struct::rip,
};
constexpr unsigned long long user_regs_struct::*kSmall[] = {
    &user_regs_struct::eflags, &user_regs_struct::cs, &user_regs_struct::ss, &user_regs_struct::ds,
    &user_regs_struct::es,     &user_regs_struct::fs, &user_regs_struct::gs,
};
constexpr unsigned long long user_regs_struct::*kLinux[] = {
    &user_regs_struct::orig_rax, &user_regs_struct::fs_base, &user_regs_struct::gs_base,
};

}  // namespace

RegisterMap::RegisterMap() : features_(read_xcr0()) {
  machine::X86Features has;
  has.avx = (features_ & kAvx) != 0;
  constexpr uint64_t kAvx512 = kOpmask | kZmmHigh | kHigh16;
  has.avx512 = has.avx && (features_ & kAvx512) == kAvx512;
  has.pkeys = (features_ & kPkru) != 0;
  if (!has.avx512) features_ &= ~kAvx512;
  layout_ = machine::x86_64_layout(has);
  description_ = machine::x86_64_tdesc(has);
  uint32_t a = 0, b = 0, c = 0, d = 0;
  xsave_bytes_ = 576;
  if (__get_cpuid_count(13, 0, &a, &b, &c, &d) != 0) xsave_bytes_ = std::max<size_t>(576, c);
  for (uint32_t i = 2; i < 16; ++i) {
    if (((features_ >> i) & 1) == 0 || __get_cpuid_count(13, i, &a, &b, &c, &d) == 0) continue;
    component_at_[i] = b;
  }
  find_pieces();
}

void RegisterMap::find_pieces() {
  std::vector<Piece>& all = pieces_;
  all = {{kSse, x86::kXmm0Offset, 160, 16, 16, 16},
         {kSse, x86::kMxcsrOffset, 24, 1, 4, 4}};
  if (features_ & kAvx) all.push_back({kAvx, x86::kYmm0hOffset, component_at_[2], 16, 16, 16});
  if (features_ & kHigh16) {
    const size_t high = component_at_[7];
    all.push_back({kHigh16, x86::kXmm16Offset, high, 16, 16, 64});
    all.push_back({kHigh16, x86::kYmm16hOffset, high + 16, 16, 16, 64});
    all.push_back({kOpmask, x86::kK0Offset, component_at_[5], 8, 8, 8});
    all.push_back({kZmmHigh, x86::kZmm0hOffset, component_at_[6], 16, 32, 32});
    all.push_back({kHigh16, x86::kZmm0hOffset + 16 * 32, high + 32, 16, 32, 64});
  }
  if (const Register* pkru = layout_.find("pkru"))
    all.push_back({kPkru, pkru->offset, component_at_[9], 1, 4, 4});
}

void RegisterMap::to_block(const user_regs_struct& regs, Bytes xsave,
                           std::span<uint8_t> block) const {
  size_t at = 0;
  for (const auto member : kGeneral) store(block, std::exchange(at, at + 8), regs.*member, 8);
  for (const auto member : kSmall) store(block, std::exchange(at, at + 4), regs.*member, 4);
  at = x86::kOrigRaxOffset;
  for (const auto member : kLinux) store(block, std::exchange(at, at + 8), regs.*member, 8);
  if (xsave.size() < 576) return;
  x87_to_block(xsave, block);
  for (const Piece& piece : pieces_)
    for (size_t i = 0; i < piece.count; ++i) {
      const size_t from = piece.xsave_at + i * piece.stride;
      if (from + piece.bytes > xsave.size()) continue;
      std::memcpy(&block[piece.block_at + i * piece.bytes], &xsave[from], piece.bytes);
    }
}

void RegisterMap::regs_from_block(Bytes block, user_regs_struct& regs) {
  size_t at = 0;
  for (const auto member : kGeneral) regs.*member = load(block, std::exchange(at, at + 8), 8);
  for (const auto member : kSmall) regs.*member = load(block, std::exchange(at, at + 4), 4);
  at = x86::kOrigRaxOffset;
  for (const auto member : kLinux) regs.*member = load(block, std::exchange(at, at + 8), 8);
}

bool RegisterMap::xsave_from_block(Bytes block, std::span<uint8_t> xsave) const {
  if (xsave.size() < 576) return false;
  std::vector<uint8_t> was(layout_.size_bytes);
  to_block({}, xsave, was);
  uint64_t changed = 0;
  const auto differs = [&](size_t block_at, size_t bytes) {
    return std::memcmp(&block[block_at], &was[block_at], bytes) != 0;
  };
  if (differs(x86::kSt0Offset, x86::kXmm0Offset - x86::kSt0Offset)) {
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

bool RegisterMap::general(const user_regs_struct& regs, uint32_t number, uint64_t& value) {
  if (number <= x86::kRip) {
    value = regs.*kGeneral[number];
  } else if (number <= x86::kGs) {
    value = static_cast<uint32_t>(regs.*kSmall[number - x86::kEflags]);
  } else if (number >= x86::kOrigRax && number <= x86::kGsBase) {
    value = regs.*kLinux[number - x86::kOrigRax];
  } else {
    return false;
  }
  return true;
}

}  // namespace tracewell::target::live
