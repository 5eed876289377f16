// Non-stop mode as the protocol has it (manual, "Remote Non-Stop", "Notification Packets"): what
// happens is told by one notification `%Stop:…`; until the debugger has acknowledged it with
// vStopped, and been given all that follows, no other is sent.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "target/target.h"

namespace tracewell::agent {

/// What the debugger has yet to acknowledge. The first of them has been sent.
class StopQueue {
 public:
  /// True: the queue was empty, so this is to be sent now.
  bool push(const target::StopEvent& event, std::string reply);
  /// The first is known now. The next one, or "OK".
  std::string acknowledge();
  /// The first, or "OK".
  std::string first() const { return replies_.empty() ? "OK" : replies_.front().text; }
  /// Has the debugger yet to learn that this thread stands still, or that its process is there?
  /// When it resumes everything it does not mean this one.
  bool holds(const target::ThreadInfo& thread) const;
  /// Has the debugger yet to learn that this process (0: any) runs another program?
  bool holds_exec(target::Pid pid = 0) const;
  /// Has it yet to learn of the fork that this process is?
  bool holds_fork(target::Pid pid) const;
  /// The forks of this process that it has yet to learn of, without vforks.
  std::vector<target::Pid> forks_of(target::Pid pid) const;
  void clear();
  /// Of a process that the debugger has ended or left. The first stays: it was sent.
  void forget(target::Pid pid);

 private:
  struct Told {
    target::StopEvent::Kind kind;
    target::Pid pid;
    target::Tid tid;
    target::Pid child;
    std::string text;
  };
  void count(const Told& told, int by);
  std::deque<Told> replies_;
  /// How many of these are about a thread, and tell of a child. Many threads may stop at once, and
  /// for each packet it is asked of each of them.
  std::map<target::Tid, int> of_thread_;
  std::map<target::Pid, int> of_child_;
};

struct NonStopState {
  bool on = false;
  /// Did this debugger ask for it? A debugger that comes to threads that run has yet to say.
  bool confirmed = false;
  std::map<target::Tid, target::StopEvent> stops;  // why those stand still that do
  StopQueue queue;
  /// Its last program has been let go, and it has yet to acknowledge what it was told before: the
  /// session ends then. Stock GDB does so after the reply to D, and takes a connection that is
  /// closed instead for an error.
  bool parts = false;
  /// Whose thread was to be selected, and is gone. 0: the one that is selected is there.
  target::Pid of_gone_thread = 0;
  /// Of these processes, in which nobody stood still when this debugger asked, the first thread
  /// that it stops is sampled. Stock GDB lets that one go on once it has read symbols.
  std::set<target::Pid> to_sample;
  /// It has said which signals to pass, as GDB does right before it lets a thread go on. Where it
  /// asks for registers instead, its user has said "interrupt" in between: it believes the thread
  /// to have stood still all the time, and has forgotten all that it knew of it.
  bool says_signals = false;
};

class Session;
/// Before its registers are told.
void stop_if_sampled(Session& session, const target::ThreadInfo& thread);
/// Of a thread that a sample stands for, nothing is written: the debugger means the place that it
/// was shown. Another pc is how it steps off a breakpoint; the error says what to do about that.
Status write_registers(Session& session, const target::ThreadInfo& thread, Bytes block);

}  // namespace tracewell::agent
