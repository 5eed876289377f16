// Between the kernel's registers (user_regs_struct and the XSAVE area) and the protocol's block.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/user.h>

#include "base/bytes.h"
#include "base/result.h"
#include "model/registers.h"
#include "target/fast_sites.h"
#include "target/target.h"

namespace tracewell::target::live {

struct KernelRegister;

/// The kernel's XSAVE area in the standard (not compacted) format. The features that are enabled
/// stand in it: XCR0 lies in the bytes that the hardware leaves to software.
class RegisterMap {
 public:
  enum class Program : uint8_t { Bits64, Bits32 };
  /// Of this processor, for programs of that kind: asks cpuid and XCR0 once.
  explicit RegisterMap(Program program);

  const RegisterLayout& layout() const { return layout_; }
  const std::string& description() const { return description_; }

  /// Bytes needed for an XSAVE area here.
  size_t xsave_bytes() const { return xsave_bytes_; }
  void to_block(const user_regs_struct& regs, Bytes xsave, std::span<uint8_t> block) const;
  /// What XSAVEC has to store for a block, and how many bytes that takes; both 0 without XSAVEC.
  void vector_state(uint64_t& components, uint64_t& bytes) const;
  /// The pieces of what is stored then.
  std::vector<FastSites::VectorPart> vector_parts(uint64_t components) const;
  /// Those of the components for which this processor has instructions to compare registers, and to
  /// tell what is in use. 0 = none.
  uint64_t vectors_direct(uint64_t components) const;
  /// What XSAVEC has stored, as PTRACE_GETREGSET tells it. Empty where it makes no sense.
  std::vector<uint8_t> expand(Bytes compacted) const;
  /// General registers alone.
  void regs_from_block(Bytes block, user_regs_struct& regs) const;
  /// Changes `xsave` to what `block` says. Components that do not differ stay as they are; others
  /// are marked as in use. false = nothing differed.
  bool xsave_from_block(Bytes block, std::span<uint8_t> xsave) const;

  /// One general register (numbers up to gs, orig_rax, fs_base, gs_base).
  bool general(const user_regs_struct& regs, uint32_t number, uint64_t& value) const {
    if (number >= general_.size() || general_[number].member == nullptr) return false;
    const General& one = general_[number];
    value = one.bytes == 8 ? regs.*one.member : static_cast<uint32_t>(regs.*one.member);
    return true;
  }

 private:
  using Member = unsigned long long user_regs_struct::*;
  struct General {
    Member member = nullptr;  // nullptr = the register of this number is not one of them
    uint32_t block_at = 0;
    uint32_t bytes = 0;
    bool is_signed = false;  // the kernel looks at its upper half
  };
  /// A run of equal registers: `count` of `bytes` each, `stride` apart in the XSAVE area.
  struct Piece {
    uint64_t component = 0;
    size_t block_at = 0, xsave_at = 0;
    size_t count = 0, bytes = 0, stride = 0;
  };
  void add_general(std::span<const KernelRegister> names);
  void find_pieces();
  void add_piece(uint64_t component, std::string_view first, size_t count, size_t xsave_at,
                 size_t stride);
  uint64_t compacted_at(uint64_t components, uint32_t which) const;
  void x87_to_block(Bytes xsave, std::span<uint8_t> block) const;
  void x87_from_block(Bytes block, std::span<uint8_t> xsave) const;

  RegisterLayout layout_;
  std::string description_;
  size_t xsave_bytes_ = 0;
  uint64_t features_ = 0;           // XCR0
  uint32_t component_at_[16] = {};  // offsets of XSAVE components
  uint32_t component_bytes_[16] = {};
  uint32_t component_aligned_ = 0;  // bit n: component n begins at 64 bytes where it is compacted
  std::vector<General> general_;    // by number
  size_t st0_at_ = 0, fctrl_at_ = 0, x87_end_ = 0;  // in the block
  std::vector<Piece> pieces_;
};

}  // namespace tracewell::target::live
