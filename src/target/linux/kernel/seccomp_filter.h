// What filters of system calls (seccomp(2)) say to calls that the program would not make without
// us. One is made by stops: a call that waits with a timeout and is interrupted by a stop goes on
// through restart_syscall(2), with the time that is left. A program that nobody ever stopped has
// never made it, and its filter may end the program there. Others are made by code of ours in the
// program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/user.h>

#include "target/fast_sites.h"
#include "target/target.h"

namespace tracewell::target::live {

/// What a filter (classic BPF, as seccomp(2) has it) answers to a call; nullopt: it is none that
/// the kernel would take; or what it answers depends on more of the call than its first `known`
/// bytes.
std::optional<uint32_t> run_filter(std::span<const sock_filter> filter, const seccomp_data& call,
                                   size_t known = sizeof(seccomp_data));

/// Is the answer to this call of 64-bit code to let it through, wherever it is made, and whatever
/// its arguments? false as well where that cannot be told.
bool always_allows(std::span<const sock_filter> filter, uint32_t number);

/// Is the stopped thread in a call that goes on through restart_syscall(2), and do its filters
/// forbid that? Only who has CAP_SYS_ADMIN may read filters: false for others.
bool restart_is_forbidden(Tid tid, const user_regs_struct& regs);

/// Looks at the filters of one thread after the other. Mostly they are the same ones.
class FiltersOfThreads {
 public:
  enum class Answer : uint8_t {
    Allow,       // the calls: all of its filters
    Forbid,      // `forbidden` says which
    NotStopped,  // the thread is not in a stop of ours
    NotKnown,    // it has no filters, or they cannot be read (`errno` says why), or are too many
  };
  explicit FiltersOfThreads(std::span<const FastSites::Call> calls) : calls_(calls) {}
  Answer look(Tid tid);
  uint32_t count() const { return count_; }  // of the thread's filters, when they allow the calls
  std::string_view forbidden() const { return forbidden_; }

 private:
  bool judge(std::span<const sock_filter> filter);
  bool spend(size_t work);
  std::span<const FastSites::Call> calls_;
  std::vector<std::vector<sock_filter>> allowed_;  // by their place: of the thread before
  std::vector<sock_filter> room_;
  uint32_t count_ = 0;
  std::string_view forbidden_;
  size_t left_ = size_t{1} << 24;  // instructions, read or run: all threads stand still meanwhile
};

/// Has the call begin anew instead, with all of its time, or fail with EINTR where a signal's
/// handler comes first, as restart_syscall would.
void begin_call_anew(user_regs_struct& regs);

}  // namespace tracewell::target::live
