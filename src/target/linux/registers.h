// Between the kernel's registers (user_regs_struct and the XSAVE area) and the protocol's block.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sys/user.h>

#include "base/bytes.h"
#include "base/result.h"
#include "model/registers.h"
#include "target/target.h"

namespace tracewell::target::live {

/// The kernel's XSAVE area in the standard (not compacted) format. The features that are enabled
/// stand in it: XCR0 lies in the bytes that the hardware leaves to software.
class RegisterMap {
 public:
  /// Of this processor: asks cpuid and XCR0 once.
  RegisterMap();

  const RegisterLayout& layout() const { return layout_; }
  const std::string& description() const { return description_; }

  /// Bytes needed for an XSAVE area here.
  size_t xsave_bytes() const { return xsave_bytes_; }
  void to_block(const user_regs_struct& regs, Bytes xsave, std::span<uint8_t> block) const;
  /// General registers alone.
  static void regs_from_block(Bytes block, user_regs_struct& regs);
  /// Changes `xsave` to what `block` says. Components that do not differ stay as they are; others
  /// are marked as in use. false = nothing differed.
  bool xsave_from_block(Bytes block, std::span<uint8_t> xsave) const;

  /// One general register (numbers up to gs, orig_rax, fs_base, gs_base).
  static bool general(const user_regs_struct& regs, uint32_t number, uint64_t& value);

 private:
  /// A run of equal registers: `count` of `bytes` each, `stride` apart in the XSAVE area.
  struct Piece {
    uint64_t component = 0;
    size_t block_at = 0, xsave_at = 0;
    size_t count = 0, bytes = 0, stride = 0;
  };
  void find_pieces();

  RegisterLayout layout_;
  std::string description_;
  size_t xsave_bytes_ = 0;
  uint64_t features_ = 0;           // XCR0
  uint32_t component_at_[16] = {};  // offsets of XSAVE components
  std::vector<Piece> pieces_;
};

}  // namespace tracewell::target::live
