#include "target/linux/tracer.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <elf.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/threads/trap_flag.h"

namespace tracewell::target::live {

Thread* Tracer::find(Tid tid) {
  const auto it = threads_.find(tid);
  return it == threads_.end() ? nullptr : it->second.get();
}

Process* Tracer::find_process(Pid pid) {
  const auto it = processes_.find(pid);
  return it == processes_.end() ? nullptr : it->second.get();
}

Process& Tracer::add_process(Pid pid, std::shared_ptr<AddressSpace> space) {
  remove_process(pid);  // its number is another one's now
  auto process = std::make_unique<Process>();
  process->pid = pid;
  process->itself = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  process->space = std::move(space);
  return *(processes_[pid] = std::move(process));
}

Thread& Tracer::add_thread(Process& process, Tid tid) {
  remove_thread(tid);
  auto thread = std::make_unique<Thread>();
  thread->tid = tid;
  thread->process = &process;
  process.threads.push_back(tid);
  Thread& result = *(threads_[tid] = std::move(thread));
  if (const auto status = unborn.take_status(tid)) note(tid, *status);
  return result;
}

void Tracer::remove_thread(Tid tid) {
  const auto it = threads_.find(tid);
  if (it == threads_.end()) return;
  if (it->second->child != 0)
    unborn.orphan(unborn.take_child(*it->second), it->second->process->space);
  it->second->run = Run::Exiting;
  if (std::exchange(it->second->trace_step, false) && handler != nullptr) handler->on_end(tid);
  std::erase(it->second->process->threads, tid);
  removed_.threads.push_back(std::move(it->second));
  threads_.erase(it);
}

void Tracer::remove_process(Pid pid) {
  const auto it = processes_.find(pid);
  if (it == processes_.end()) return;
  const std::vector<Tid> threads = it->second->threads;
  for (const Tid tid : threads) remove_thread(tid);
  last_gone_32_bit_ = it->second->space->is_32_bit;
  removed_.processes.push_back(std::move(it->second));
  processes_.erase(it);
  if (processes_.empty()) interrupt_wanted_ = false;  // it was not about the next one
  unborn.process_gone();
}

std::vector<Thread*> Tracer::threads_of(const Process& process) {
  std::vector<Thread*> result;
  for (const Tid tid : process.threads)
    if (Thread* thread = find(tid)) result.push_back(thread);
  return result;
}

std::vector<Thread*> Tracer::all_threads() {
  std::vector<Thread*> result;
  for (const auto& [pid, process] : processes_)
    for (Thread* thread : threads_of(*process)) result.push_back(thread);
  work_done += result.size();
  return result;
}

Thread* Tracer::first_thread(Pid pid) {
  Process* process = find_process(pid);
  if (process == nullptr) return nullptr;
  for (Thread* thread : threads_of(*process))
    if (thread->run != Run::Exiting) return thread;
  return nullptr;
}

const RegisterMap& Tracer::register_map(const Process& process) const {
  return process.space->is_32_bit ? registers_32_ : registers_64_;
}

const RegisterMap& Tracer::register_map(Pid pid) {
  if (const Process* process = find_process(pid)) return register_map(*process);
  return last_gone_32_bit_ ? registers_32_ : registers_64_;
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
