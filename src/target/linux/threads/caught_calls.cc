#include "target/linux/threads/caught_calls.h"

#include <set>

#include "target/linux/threads/register_blocks.h"

namespace tracewell::target::live {

Status catch_system_calls(const ThreadTable& threads, Pid pid, bool on,
                          std::vector<int64_t> only) {
  Process* process = threads.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  process->catches_calls = on;
  process->caught_calls = std::set<int64_t>(only.begin(), only.end());
  return {};
}

bool catches(const Thread& thread, int64_t number) {
  const Process& process = *thread.process;
  if (!process.catches_calls || !seen(process)) return false;
  return process.caught_calls.empty() || process.caught_calls.contains(number);
}

/// A single step over a system call tells neither of its entry nor of its return. Where they are
/// caught, the thread is run into the call, which is as far as the instruction goes by itself.
bool steps_into_caught_call(Thread& thread) {
  if (!thread.process->catches_calls || !seen(*thread.process) || thread.call) return false;
  const auto code = thread.process->space->read_value<uint16_t>(regs_of(thread).rip);
  constexpr uint16_t kSyscall = 0x050f, kSysenter = 0x340f, kInt80 = 0x80cd;
  return code == kSyscall || code == kSysenter || code == kInt80;
}

}  // namespace tracewell::target::live
