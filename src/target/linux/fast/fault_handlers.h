// FaultHandlers: what a program does about SIGSEGV and SIGBUS, as far as it is known. The kernel
// takes the handler of a fault's signal away where the thread blocks that signal, and unblocks it;
// nothing but what was known before says what it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "target/target.h"

namespace tracewell::target::live {

/// As rt_sigaction(2) has it, for the kernel.
struct FaultAction {
  uint64_t handler = 0, flags = 0, restorer = 0, mask = 0;
  bool is_default() const { return handler == 0; }
  bool is_ignored() const { return handler == 1; }
  bool is_caught() const { return handler > 1; }
};

class FaultHandlers {
 public:
  /// `owner`: the process whose they are. Others may share its memory, as of vfork, and have their
  /// own. `page`: memory of the program for calls of ours.
  FaultHandlers(Pid owner, uint64_t page) : owner_(owner), page_(page) {}
  Pid owner() const { return owner_; }
  uint64_t page() const { return page_; }

  static bool is_of_a_fault(int signal);
  /// Of one of the two.
  FaultAction& of(int signal);

  /// Is what they are known, so that a load may fail?
  bool known() const;
  /// Not for a while after each that was taken away: that takes all threads' time, and others can
  /// see it for a moment.
  bool may_fault(int64_t now_ns) const { return known() && now_ns >= not_before_ns_; }
  /// Compares with a line of /proc/PID/status that is as new: what is gone for good is known to be
  /// gone. True: there is one that is not known.
  bool look(const std::string& status);

  /// By the same line: has the kernel taken none of them away?
  bool are_there(const std::string& status) const;

  /// What the thread blocked when somebody looked last.
  void note_mask(Tid tid, uint64_t blocked);
  bool blocked_then(Tid tid, int signal) const;

  void note_restored(int64_t now_ns);
  void note_lost(int signal);
  FastSites::Mended mended;
  uint64_t taken = 0;  // what hits have written down so far
  /// A hit was in the middle of that at the last look; at the last two: a handler of signals has
  /// left it there for good, and nobody writes any more.
  uint64_t odd = 0;
  bool is_stuck = false;

  void note_failed(uint64_t address);
  /// Where loads have failed, in no order.
  const std::deque<uint64_t>& failed_pages() const { return failed_; }
  static constexpr uint64_t kPage = 4096;

 private:
  Pid owner_;
  uint64_t page_;
  FaultAction actions_[2];
  int gone_for_[2] = {};  // so many looks
  int64_t not_before_ns_ = 0, pause_ns_ = 0;
  std::deque<uint64_t> failed_;
  std::map<Tid, uint64_t> blocked_;
};

/// Signals of a set in /proc/PID/status, such as SigCgt.
uint64_t signals_of(const std::string& status, std::string_view name);
constexpr uint64_t bit_of(int signal) { return uint64_t{1} << (signal - 1); }
/// Does the process handle the signal?
inline bool catches(const std::string& status, int signal) {
  return (signals_of(status, "SigCgt") & bit_of(signal)) != 0;
}

}  // namespace tracewell::target::live
