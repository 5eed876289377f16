#include "target/linux/programs/seize.h"

#include <cerrno>
#include <csignal>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace tracewell::target::live {
namespace {

// Where the call's instruction is: the thread stands there in the handler when the kernel is about
// to enter the call, or to enter it again.
volatile uint64_t call_at = 0;
constexpr int64_t kCallBytes = 2;

void on_knock(int, siginfo_t*, void* context) {
  auto& regs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (static_cast<uint64_t>(regs[REG_RIP]) != call_at) return;
  regs[REG_RIP] += kCallBytes;
  regs[REG_RAX] = -EINTR;
}

void listen_for_knocks() {
  struct sigaction action {};
  action.sa_sigaction = on_knock;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(Nudger::kKnock, &action, nullptr);
  sigset_t knock;
  sigemptyset(&knock);
  sigaddset(&knock, Nudger::kKnock);
  pthread_sigmask(SIG_UNBLOCK, &knock, nullptr);
}

long seize_once(Tid tid, uint64_t options) {
  long result = SYS_ptrace;
  register uint64_t data asm("r10") = options;
  asm volatile("lea 1f(%%rip), %%r11\n\tmov %%r11, %1\n1:\tsyscall"
               : "+a"(result), "=m"(call_at)
               : "D"(long{PTRACE_SEIZE}), "S"(tid), "d"(0L), "r"(data)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace

int seize_thread(Nudger& nudger, Tid tid, uint64_t options) {
  static thread_local const bool listening = (listen_for_knocks(), true);
  (void)listening;
  const Nudger::Wait knocked(nudger, true);
  return static_cast<int>(-seize_once(tid, options));
}

}  // namespace tracewell::target::live
