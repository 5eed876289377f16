#include "axjit/assembler.h"

#include <algorithm>

#include "base/check.h"

namespace tracewell::axjit {
namespace {

constexpr size_t kSlotBytes = 8;

struct ConditionCode {
  void (Xbyak::CodeGenerator::*jump)(const Xbyak::Label&, Xbyak::CodeGenerator::LabelType);
  void (Xbyak::CodeGenerator::*set)(const Xbyak::Operand&);
};

const ConditionCode& code_of(Condition condition) {
  using Generator = Xbyak::CodeGenerator;
  static constexpr ConditionCode kCodes[] = {
      {&Generator::je, &Generator::sete}, {&Generator::jne, &Generator::setne},
      {&Generator::jl, &Generator::setl}, {&Generator::jge, &Generator::setge},
      {&Generator::jg, &Generator::setg}, {&Generator::jle, &Generator::setle},
      {&Generator::jb, &Generator::setb}, {&Generator::jae, &Generator::setae},
      {&Generator::ja, &Generator::seta}, {&Generator::jbe, &Generator::setbe},
  };
  return kCodes[static_cast<size_t>(condition)];
}

}  // namespace

// With the return address a multiple of 16, so that calls find the stack aligned.
size_t FrameUse::bytes() const {
  const size_t words = cells + static_cast<size_t>(std::ranges::count(slots, true));
  return words == 0 ? 0 : (words + 1 - words % 2) * kSlotBytes;
}

Assembler::Assembler(std::span<uint8_t> buffer, const FrameUse& frame)
    : CodeGenerator(buffer.size(), buffer.data()), frame_(frame) {
  setDefaultJmpNEAR(true);
}

Xbyak::Address Assembler::slot(FrameUse::Slot slot) {
  TW_CHECK(frame_.slots[slot]);
  used_.slots[slot] = true;
  const auto before = std::count(frame_.slots.begin(), frame_.slots.begin() + slot, true);
  return qword[rsp + static_cast<int>(before * kSlotBytes)];
}

Xbyak::Address Assembler::cell(size_t index) {
  TW_CHECK(index < frame_.cells);
  used_.cells = std::max(used_.cells, index + 1);
  const auto slots = static_cast<size_t>(std::ranges::count(frame_.slots, true));
  return qword[rsp + static_cast<int>((slots + frame_.cells - 1 - index) * kSlotBytes)];
}

void Assembler::enter_frame() {
  if (frame_.bytes() > 0) sub(rsp, static_cast<uint32_t>(frame_.bytes()));
}

void Assembler::leave_frame() {
  if (frame_.bytes() > 0) add(rsp, static_cast<uint32_t>(frame_.bytes()));
}

void Assembler::load_sized(const Reg64& to, const Xbyak::RegExp& from, size_t size_bytes) {
  clobber(to);
  if (size_bytes == 1) movzx(to.cvt32(), byte[from]);
  if (size_bytes == 2) movzx(to.cvt32(), word[from]);
  if (size_bytes == 4) mov(to.cvt32(), dword[from]);
  if (size_bytes == 8) mov(to, qword[from]);
}

void Assembler::jump_if(Condition condition, const Xbyak::Label& label) {
  (this->*code_of(condition).jump)(label, T_AUTO);
}

void Assembler::set_if(Condition condition, const Reg64& to) {
  clobber(to);
  (this->*code_of(condition).set)(to.cvt8());
  movzx(to.cvt32(), to.cvt8());
}

}  // namespace tracewell::axjit
