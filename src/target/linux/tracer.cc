#include "target/linux/tracer.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <elf.h>
#include <sys/uio.h>

#include <fmt/format.h>

#include "target/linux/threads/trap_flag.h"

namespace tracewell::target::live {

/// One that was waited for before it was in the table has stopped already.
void Tracer::on_added(Thread& thread) {
  if (const auto status = unborn.take_status(thread.tid)) note(thread.tid, *status);
}

void Tracer::on_removal(Thread& thread) {
  if (thread.child != 0) unborn.orphan(unborn.take_child(thread), thread.process->space);
  if (std::exchange(thread.trace_step, false) && handler != nullptr) handler->on_end(thread.tid);
}

void Tracer::on_process_removed() {
  if (threads_.processes().empty()) interrupt_wanted_ = false;  // it was not about the next one
  unborn.process_gone();
}

const RegisterMap& Tracer::register_map(const Process& process) const {
  return process.space->is_32_bit ? registers_32_ : registers_64_;
}

const RegisterMap& Tracer::register_map(Pid pid) {
  return threads_.is_32_bit(pid) ? registers_32_ : registers_64_;
}

user_regs_struct& Tracer::regs(Thread& thread) {
  if (thread.regs_state == Thread::Registers::Unknown) {
    if (trace(PTRACE_GETREGS, thread.tid, 0, &thread.regs) != 0) thread.regs = {};
    thread.regs_state = Thread::Registers::Clean;
    hide_trap_flag(thread);
  }
  return thread.regs;
}

void Tracer::set_pc(Thread& thread, uint64_t pc) {
  if (regs(thread).rip == pc) return;
  thread.regs.rip = pc;
  if (thread.regs_state == Thread::Registers::Clean)
    thread.regs_state = Thread::Registers::PcChanged;
}

Status Tracer::flush_regs(Thread& thread) {
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

Result<Bytes> Tracer::read_xsave(Thread& thread) {
  xsave_.resize(registers_64_.xsave_bytes());
  iovec area{xsave_.data(), xsave_.size()};
  if (trace(PTRACE_GETREGSET, thread.tid, NT_X86_XSTATE, &area) != 0)
    return errno_error(fmt::format("vector registers of thread {}", thread.tid), Errc::Target);
  return Bytes(xsave_).first(area.iov_len);
}

Status Tracer::read_block(Thread& thread, std::span<uint8_t> block) {
  const RegisterMap& map = register_map(*thread.process);
  if (block.size() != map.layout().size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  if (thread.run == Run::VforkWait && !thread.last_block.empty()) {
    std::copy(thread.last_block.begin(), thread.last_block.end(), block.begin());
    return {};
  }
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} is not stopped", thread.tid)};
  TW_ASSIGN_OR_RETURN(const Bytes xsave, read_xsave(thread));
  map.to_block(regs(thread), xsave, block);
  return {};
}

Status Tracer::write_block(Thread& thread, Bytes block) {
  const RegisterMap& map = register_map(*thread.process);
  if (block.size() != map.layout().size_bytes)
    return {Errc::InvalidArgument, "a register block of another size"};
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} cannot be written to now", thread.tid)};
  const user_regs_struct was = regs(thread);
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
