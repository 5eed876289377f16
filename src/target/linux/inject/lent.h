// A thread of the program that makes a system call for us, and what it is to have again behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sys/user.h>

#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

struct Thread;

struct Lent {
  static constexpr int64_t kCallNs = 5'000'000'000;  // for calls of ours, which wait for nothing

  user_regs_struct regs{};
  uint64_t blocked = 0;
  uint64_t options = 0;             // of ptrace, the thread's own
  bool filtered = false;            // its system calls (seccomp)
  std::optional<CallDispatch> dispatch;
  std::optional<Sequence> sequence;
  bool skipped = false;   // the call is not to be made any more
  std::vector<siginfo_t> sent;  // signals that came meanwhile, of somebody's

  static Status lend(Thread& thread);
  static void give_back(Thread& thread);
  /// One that was given up in the middle of it has stopped after all. False: it is not through yet.
  static bool take_back(Thread& thread, int status);
  /// The same for one that nobody traces any more.
  bool take_back(Pid pid, Tid tid, int status);

  /// At the entry of this call, made by the instruction in front of `pc`.
  static bool stands_before(Thread& thread, uint64_t pc, const uint64_t (&call)[7]);
  bool suspend_filters(Tid tid) const;
  void cancel_call(Tid tid, user_regs_struct& now);

 private:
  bool can_suspend_filters(Tid tid) const;
  void give_rest_back(Pid pid, Tid tid) const;
};

}  // namespace tracewell::target::live
