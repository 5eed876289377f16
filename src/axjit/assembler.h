// The assembler, with what all of the room's emitters agree on: registers, the frame, conditions.
//
//   rdi                  the context, from the first to the last instruction; reloaded after calls
//   rax, rcx, rdx        scratch within one bytecode; rcx counts shifts, rax and rdx divide
//   rsi, r8 to r11       the pool: values of the evaluation stack
//   rsp                  moved once by the size of the frame
//
// All of these belong to the callee in the System V ABI, so nothing has to be pushed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <xbyak/xbyak.h>

namespace tracewell::axjit {

using Xbyak::Reg64;
namespace reg = Xbyak::util;

inline constexpr size_t kPool = 5;
inline const std::array<Reg64, kPool> kPoolRegisters = {reg::rsi, reg::r8, reg::r9, reg::r10,
                                                        reg::r11};

/// Conditions that a comparison leaves in the flags. Each one's opposite differs in the last bit.
enum class Condition : uint8_t {
  Equal, NotEqual, Less, NotLess, Greater, NotGreater, Below, NotBelow, Above, NotAbove,
};
constexpr Condition opposite(Condition condition) {
  return static_cast<Condition>(static_cast<uint8_t>(condition) ^ 1);
}

/// What is kept on the machine's stack: some numbers, then cells for values of the evaluation
/// stack. The uppermost value has the lowest address, so that arguments lie in printf's order.
struct FrameUse {
  static constexpr size_t kSlots = 4;
  enum Slot : uint8_t { Context, Expected, Loaded, Budget };

  std::array<bool, kSlots> slots{};
  size_t cells = 0;

  size_t bytes() const;
};

class Assembler : public Xbyak::CodeGenerator {
 public:
  /// Writes into `buffer` (borrowed); throws Xbyak::Error when that is too small. `frame` is what
  /// may be used of the stack.
  Assembler(std::span<uint8_t> buffer, const FrameUse& frame);

  Xbyak::Address cell(size_t index);
  Xbyak::Address slot(FrameUse::Slot slot);
  /// Moves rsp by the frame's size, and back.
  void enter_frame();
  void leave_frame();

  /// Zero-extends `size_bytes` (1, 2, 4 or 8) bytes.
  void load_sized(const Reg64& to, const Xbyak::RegExp& from, size_t size_bytes);
  void jump_if(Condition condition, const Xbyak::Label& label);
  /// `to` becomes 0 or 1. Leaves the flags as they are.
  void set_if(Condition condition, const Reg64& to);

  /// Notes that the code changes this register.
  void clobber(const Reg64& changed) { clobbers_ |= uint16_t(1u << changed.getIdx()); }
  uint16_t clobbers() const { return clobbers_; }
  /// What was used of the frame so far.
  const FrameUse& used() const { return used_; }

 private:
  FrameUse frame_;
  FrameUse used_;
  uint16_t clobbers_ = 0;
};

}  // namespace tracewell::axjit
