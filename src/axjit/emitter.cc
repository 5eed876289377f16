#include "axjit/emitter.h"

#include <algorithm>

#include "ax/native.h"
#include "base/check.h"

namespace tracewell::axjit {

using ax::Fault;
using ax::Instruction;
using ax::Opcode;

Native Emitter::result() const {
  Native native;
  for (size_t i = 0; i < load_offsets_.size(); ++i)
    native.loads.push_back({load_offsets_[i], resume_offsets_[i]});
  native.clobbers = as_.clobbers();
  native.stack_bytes = static_cast<uint32_t>(as_.used().bytes() + sizeof(uint64_t));
  native.calls = calls_;
  return native;
}

void Emitter::emit() {
  enter();
  for (const size_t offset : flow_.reached) {
    TW_CHECK(ax::decode(code_, offset, at_) == Fault::None);
    if (flow_.targets[offset]) {
      if (live_) values_.bring_home();
      as_.L(labels_[offset]);
      values_.assume_home(static_cast<size_t>(flow_.heights[offset]));
      live_ = true;
    }
    if (live_ && offset != skip_) instruction();
  }
  TW_CHECK(!live_);  // verified code ends with an `end` or a branch
  emit_exits();
  emit_texts();
  as_.L(end_);
}

void Emitter::enter() {
  as_.clobber(reg::rax);
  as_.clobber(reg::rdx);
  as_.enter_frame();
  if (counted_) {
    const uint64_t budget = std::min<uint64_t>(surroundings_.budget, UINT32_MAX);
    as_.mov(reg::eax, static_cast<uint32_t>(budget));
    as_.mov(as_.slot(FrameUse::Budget), reg::rax);
  }
}

void Emitter::instruction() {
  begin_instruction();
  switch (at_.opcode()) {
#define OPCODE(name, ...)   \
  case Opcode::op_##name:   \
    return do_##name();
#define FLOAT_OPCODE(name, ...) case Opcode::op_##name:
#include "ax/opcodes.def"
  }
  TW_CHECK(false);  // verify() refuses floating point
}

/// These can do with a comparison's result in the flags.
static bool takes_flags(Opcode opcode) {
  return opcode == Opcode::op_if_goto || opcode == Opcode::op_log_not ||
         opcode == Opcode::op_ext || opcode == Opcode::op_zero_ext || opcode == Opcode::op_end ||
         opcode == Opcode::op_pop;
}

void Emitter::begin_instruction() {
  if (counted_ || !takes_flags(at_.opcode())) values_.settle_flags();
  if (counted_) count();
}

void Emitter::count() {
  as_.sub(as_.slot(FrameUse::Budget), 1);
  as_.jc(on_fault(Fault::BudgetExceeded));
}

void Emitter::do_goto() {
  Instruction target;
  TW_CHECK(ax::decode(code_, at_.operand, target) == Fault::None);
  if (target.opcode() == Opcode::op_end && !counted_) return finish(target.offset);
  values_.bring_home();
  as_.jmp(labels_[at_.operand]);
  live_ = false;
}

void Emitter::do_if_goto() {
  if (values_.from_top(0).is(Value::Kind::Constant)) {
    const bool taken = values_.pop().constant != 0;
    if (taken) do_goto();
    return;
  }
  const Condition condition = test_top();
  values_.bring_home();
  branch_if(condition);
}

// A branch over a goto, which is how debuggers write `&&`, becomes the opposite branch.
void Emitter::branch_if(Condition condition) {
  const size_t next = at_.offset + at_.size;
  Instruction jump;
  TW_CHECK(ax::decode(code_, next, jump) == Fault::None);
  if (!counted_ && jump.opcode() == Opcode::op_goto && !flow_.targets[next] &&
      at_.operand == next + jump.size) {
    as_.jump_if(opposite(condition), labels_[jump.operand]);
    skip_ = next;
  } else {
    as_.jump_if(condition, labels_[at_.operand]);
  }
}

void Emitter::finish(size_t offset) {
  uint64_t status = uint64_t{offset} << TRACEWELL_NATIVE_OFFSET_SHIFT;
  if (values_.height() > 0) {
    values_.load(reg::rax, values_.from_top(0));
  } else {
    as_.xor_(reg::eax, reg::eax);
    status |= TRACEWELL_NATIVE_NO_VALUE;
  }
  give_back(status);
}

void Emitter::give_back(uint64_t status) {
  as_.mov(reg::edx, static_cast<uint32_t>(status));
  as_.leave_frame();
  const bool is_last = at_.offset == flow_.reached.back() && load_exits_.empty() &&
                       fault_exits_.empty() && texts_.empty();
  if (!surroundings_.falls_out || !is_last) go_out();
  live_ = false;
}

void Emitter::go_out() {
  if (surroundings_.falls_out) as_.jmp(end_, Xbyak::CodeGenerator::T_NEAR);
  else as_.ret();
}

}  // namespace tracewell::axjit
