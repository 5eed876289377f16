// What stands behind the instructions: the ways out of those that fail, and printf's texts.
#include <cstddef>

#include "ax/native.h"
#include "axjit/emitter.h"

namespace tracewell::axjit {

using ax::Fault;

namespace {

constexpr uint32_t kPageMask = ~uint32_t{4095};  // sign-extended where it is used

constexpr uint64_t failed(Fault fault, size_t offset) {
  return uint64_t{offset} << TRACEWELL_NATIVE_OFFSET_SHIFT | TRACEWELL_NATIVE_NO_VALUE |
         static_cast<uint64_t>(fault);
}

}  // namespace

Xbyak::Label& Emitter::on_fault(Fault fault) {
  fault_exits_.push_back({{}, fault, at_.offset});
  return fault_exits_.back().label;
}

void Emitter::always(Fault fault) {
  as_.jmp(on_fault(fault));
  live_ = false;
}

void Emitter::emit_exits() {
  if (!load_exits_.empty()) emit_load_exits();
  if (fault_exits_.empty()) return;
  Xbyak::Label leave;
  for (FaultExit& exit : fault_exits_) {
    as_.L(exit.label);
    as_.mov(reg::edx, static_cast<uint32_t>(failed(exit.fault, exit.offset)));
    if (&exit != &fault_exits_.back()) as_.jmp(leave);
  }
  as_.L(leave);
  as_.xor_(reg::eax, reg::eax);
  as_.leave_frame();
  go_out();
}

// Each exit brings its address into rax, its status into edx and, above that, how many bytes follow
// the first one. Where these reach into the next page, a second look tells which of the two cannot
// be read: one byte of the first page, by a load that is in the table as well.
void Emitter::emit_load_exits() {
  Xbyak::Label common, done;
  for (LoadExit& exit : load_exits_) {
    as_.L(exit.label);
    resume_offsets_.push_back(static_cast<uint32_t>(as_.getSize()));
    if (exit.displacement != 0 || exit.base != reg::rax)
      as_.lea(reg::rax, as_.ptr[exit.base + exit.displacement]);
    as_.mov(reg::rdx, uint64_t{exit.size_bytes - 1} << 32 |
                          failed(Fault::MemoryAccess, exit.offset));
    if (&exit != &load_exits_.back()) as_.jmp(common);
  }
  const Xbyak::Address fault_address =
      as_.qword[reg::rdi + offsetof(tracewell_native_context, fault_address)];
  const Reg64& last = kPoolRegisters[0];
  as_.clobber(last);
  as_.L(common);
  as_.mov(fault_address, reg::rax);
  as_.mov(last, reg::rdx);
  as_.shr(last, 32);
  as_.add(last, reg::rax);
  as_.xor_(last, reg::rax);
  as_.test(last, kPageMask);
  as_.jz(done);
  load_offsets_.push_back(static_cast<uint32_t>(as_.getSize()));
  as_.movzx(last.cvt32(), as_.byte[reg::rax]);
  as_.or_(reg::rax, ~kPageMask);
  as_.inc(reg::rax);
  as_.mov(fault_address, reg::rax);
  as_.L(done);
  resume_offsets_.push_back(static_cast<uint32_t>(as_.getSize()));
  as_.mov(reg::edx, reg::edx);  // the status alone
  as_.xor_(reg::eax, reg::eax);
  as_.leave_frame();
  go_out();
}

void Emitter::emit_texts() {
  for (auto& [text, label] : texts_) {
    as_.L(label);
    for (const char byte : text) as_.db(static_cast<uint8_t>(byte));
    as_.db(0);
  }
}

}  // namespace tracewell::axjit
