#include "target/linux/threads/thread_table.h"

#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

Thread* ThreadTable::find(Tid tid) const {
  const auto it = threads_.find(tid);
  return it == threads_.end() ? nullptr : it->second.get();
}

Process* ThreadTable::find_process(Pid pid) const {
  const auto it = processes_.find(pid);
  return it == processes_.end() ? nullptr : it->second.get();
}

Process& ThreadTable::add_process(Pid pid, std::shared_ptr<AddressSpace> space) {
  remove_process(pid);  // its number is another one's now
  auto process = std::make_unique<Process>();
  process->pid = pid;
  process->itself = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  process->space = std::move(space);
  return *(processes_[pid] = std::move(process));
}

Thread& ThreadTable::add_thread(Process& process, Tid tid) {
  remove_thread(tid);
  auto thread = std::make_unique<Thread>();
  thread->tid = tid;
  thread->process = &process;
  process.threads.push_back(tid);
  Thread& result = *(threads_[tid] = std::move(thread));
  watcher_.on_added(result);
  return result;
}

void ThreadTable::remove_thread(Tid tid) {
  const auto it = threads_.find(tid);
  if (it == threads_.end()) return;
  it->second->run = Run::Exiting;
  watcher_.on_removal(*it->second);
  std::erase(it->second->process->threads, tid);
  removed_.threads.push_back(std::move(it->second));
  threads_.erase(it);
}

void ThreadTable::remove_process(Pid pid) {
  const auto it = processes_.find(pid);
  if (it == processes_.end()) return;
  const std::vector<Tid> threads = it->second->threads;
  for (const Tid tid : threads) remove_thread(tid);
  last_gone_32_bit_ = it->second->space->is_32_bit;
  removed_.processes.push_back(std::move(it->second));
  processes_.erase(it);
  watcher_.on_process_removed();
}

void ThreadTable::keep(std::shared_ptr<AddressSpace> memory) {
  removed_.memories.push_back(std::move(memory));
}

std::vector<Thread*> ThreadTable::threads_of(const Process& process) const {
  std::vector<Thread*> result;
  for (const Tid tid : process.threads)
    if (Thread* thread = find(tid)) result.push_back(thread);
  return result;
}

std::vector<Thread*> ThreadTable::all() const {
  std::vector<Thread*> result;
  for (const auto& [pid, process] : processes_)
    for (Thread* thread : threads_of(*process)) result.push_back(thread);
  work_done += result.size();
  return result;
}

Thread* ThreadTable::first_thread(Pid pid) const {
  const Process* const process = find_process(pid);
  if (process == nullptr) return nullptr;
  for (Thread* thread : threads_of(*process))
    if (thread->run != Run::Exiting) return thread;
  return nullptr;
}

bool ThreadTable::is_32_bit(Pid pid) const {
  const Process* const process = find_process(pid);
  return process != nullptr ? process->space->is_32_bit : last_gone_32_bit_;
}

}  // namespace tracewell::target::live
