#include "target/linux/threads/register_blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include <elf.h>
#include <sys/uio.h>

#include <fmt/format.h>

#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/trap_flag.h"

namespace tracewell::target::live {

user_regs_struct& regs_of(Thread& thread) {
  if (thread.regs_state == Thread::Registers::Unknown) {
    if (trace(PTRACE_GETREGS, thread.tid, 0, &thread.regs) != 0) thread.regs = {};
    thread.regs_state = Thread::Registers::Clean;
    hide_trap_flag(thread);
  }
  return thread.regs;
}

void set_pc(Thread& thread, uint64_t pc) {
  if (regs_of(thread).rip == pc) return;
  thread.regs.rip = pc;
  if (thread.regs_state == Thread::Registers::Clean)
    thread.regs_state = Thread::Registers::PcChanged;
}

Status flush_regs(Thread& thread) {
  long result = 0;
  if (thread.regs_state == Thread::Registers::PcChanged)
    result = trace(PTRACE_POKEUSER, thread.tid, offsetof(user, regs.rip), thread.regs.rip);
  if (thread.regs_state == Thread::Registers::Changed)
    result = trace(PTRACE_SETREGS, thread.tid, 0, &thread.regs);
  if (thread.regs_state != Thread::Registers::Unknown)
    thread.regs_state = Thread::Registers::Clean;
  if (result != 0) {
    const int why = errno;
    thread.regs_state = Thread::Registers::Unknown;
    return errno_error(why, fmt::format("registers of thread {}", thread.tid), Errc::Target);
  }
  return {};
}

Result<Bytes> RegisterBlocks::read_xsave(Thread& thread) {
  xsave_.resize(map_64_.xsave_bytes());
  iovec area{xsave_.data(), xsave_.size()};
  if (trace(PTRACE_GETREGSET, thread.tid, NT_X86_XSTATE, &area) != 0)
    return errno_error(fmt::format("vector registers of thread {}", thread.tid), Errc::Target);
  return Bytes(xsave_).first(area.iov_len);
}

Status RegisterBlocks::read(Thread& thread, std::span<uint8_t> block) {
  const RegisterMap& map = map_of(*thread.process);
  if (block.size() != map.layout().size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  if (thread.run == Run::VforkWait && !thread.last_block.empty()) {
    std::copy(thread.last_block.begin(), thread.last_block.end(), block.begin());
    return {};
  }
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} is not stopped", thread.tid)};
  TW_ASSIGN_OR_RETURN(const Bytes xsave, read_xsave(thread));
  map.to_block(regs_of(thread), xsave, block);
  return {};
}

Status RegisterBlocks::write(Thread& thread, Bytes block) {
  const RegisterMap& map = map_of(*thread.process);
  if (block.size() != map.layout().size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} cannot be written to now", thread.tid)};
  const user_regs_struct was = regs_of(thread);
  map.regs_from_block(block, thread.regs);
  if (thread.regs.rip != was.rip) {
    thread.counted.move();
    thread.trace_step = false;
    // Or the kernel moves the new pc back, to restart the system call that was interrupted.
    if (thread.regs.orig_rax == was.orig_rax) thread.regs.orig_rax = ~0ull;
  }
  thread.regs_state = Thread::Registers::Changed;
  TW_RETURN_IF_ERROR(flush_regs(thread));
  TW_ASSIGN_OR_RETURN(const Bytes xsave, read_xsave(thread));
  const size_t size = xsave.size();
  if (!map.xsave_from_block(block, std::span(xsave_).first(size))) return {};
  iovec area{xsave_.data(), size};
  if (trace(PTRACE_SETREGSET, thread.tid, NT_X86_XSTATE, &area) != 0)
    return errno_error(fmt::format("vector registers of thread {}", thread.tid), Errc::Target);
  return {};
}

}  // namespace tracewell::target::live
