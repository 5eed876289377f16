#include "target/linux/threads/trap_flag.h"

#include <array>

#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

// Intel's manual, "EFLAGS Register": CF PF AF ZF SF DF OF AC. A program may change TF, NT and ID,
// too; PTRACE_SETREGS cannot give it the last, and the others have effects of their own.
constexpr uint64_t kPlainFlags = 0x40cd5, kOtherFlags = 0x204100;

struct FlagsInstruction {
  enum class Kind : uint8_t { None, Push, Pop, Return } kind = Kind::None;
  unsigned length = 0;
  unsigned pops = 0;  // bytes
};

/// With the prefixes that compilers and libraries write: one of 66 and REX, or both.
FlagsInstruction flags_instruction(Bytes code, bool in_32_bit_code) {
  FlagsInstruction found;
  unsigned at = 0;
  const bool half = code[at] == 0x66;
  if (half) ++at;
  const bool rex = !in_32_bit_code && (code[at] & 0xf0) == 0x40;
  const bool wide = rex && (code[at] & 8) != 0;
  if (rex) ++at;
  switch (code[at]) {
    case 0x9c: found.kind = FlagsInstruction::Kind::Push; break;
    case 0x9d: found.kind = FlagsInstruction::Kind::Pop; break;
    case 0xcf: found.kind = FlagsInstruction::Kind::Return; break;
    default: return found;
  }
  found.length = at + 1;
  found.pops = half && !wide ? 2 : in_32_bit_code ? 4 : 8;
  return found;
}

constexpr size_t kCodeBytes = 3;

}  // namespace

SingleStep look_at_flags(const Thread& thread) {
  std::array<uint8_t, kCodeBytes> code{};
  thread.process->space->read_raw(thread.regs.rip, code);
  const auto kind = flags_instruction(code, in_32_bit_code(thread.regs)).kind;
  using Kind = FlagsInstruction::Kind;
  SingleStep step;
  step.pushes_flags = kind == Kind::Push;
  step.own_trap_flag = (thread.regs.eflags & kTrapFlag) != 0;
  if (kind == Kind::Pop || kind == Kind::Return) step.replaces_flags = thread.regs.rip;
  return step;
}

void hide_trap_flag(Thread& thread) {
  const SingleStep* const step = thread.doing.step();
  if (step == nullptr || (thread.regs.eflags & kTrapFlag) == 0 || step->own_trap_flag) return;
  if (step->replaces_flags && *step->replaces_flags != thread.regs.rip) return;  // it has run
  thread.regs.eflags &= ~kTrapFlag;
  thread.regs_state = Thread::Registers::Changed;
}

bool pop_flags(Thread& thread) {
  const AddressSpace& space = *thread.process->space;
  user_regs_struct& now = thread.regs;
  const bool in_32 = in_32_bit_code(now);
  std::array<uint8_t, kCodeBytes> code{};
  space.read(now.rip, code);
  const FlagsInstruction found = flags_instruction(code, in_32);
  if (found.kind != FlagsInstruction::Kind::Pop) return false;
  uint64_t popped = 0;
  if (space.read(now.rsp, {reinterpret_cast<uint8_t*>(&popped), found.pops}) != found.pops)
    return false;
  const uint64_t reach = found.pops == 2 ? 0xffff : ~0ull;
  const uint64_t changed = (popped ^ now.eflags) & reach;
  if ((changed & kOtherFlags) != 0) return false;
  now.eflags ^= changed & kPlainFlags;
  now.rsp += found.pops;
  now.rip += found.length;
  if (in_32) {
    now.rsp &= 0xffffffff;
    now.rip &= 0xffffffff;
  }
  thread.regs_state = Thread::Registers::Changed;
  return true;
}

}  // namespace tracewell::target::live
