// What we know of each traced thread and process.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <sys/user.h>

#include "target/linux/kernel/exec_rights.h"
#include "target/linux/memory/address_space.h"
#include "target/linux/threads/doing.h"
#include "target/target.h"

namespace tracewell::target::live {

struct Process;
struct Sample;

enum class Run : uint8_t {
  Starting,   // new, its first stop is still to come
  Stopped,    // in a ptrace stop
  Running,
  Listening,  // stopped by job control; tells when that ends (PTRACE_LISTEN)
  VforkWait,  // in the kernel until its vfork child runs another program; cannot be stopped
  Late,       // asked to stop, but waits in the kernel: see late.h
  Exiting,    // past its last instruction; a leader may stay so for long
};

/// What was there when a thread's wait status was asked for.
enum class Came : uint8_t { Nothing, Status, NotOurs };

/// How a wait with a bound ended.
enum class Waited : uint8_t { Stopped, Gone, GaveUp };

/// Is a sample told as the stop that is wanted?
enum class Sampling : uint8_t {
  No,
  Wanted,
  ThenStop,  // and a stop behind it: it was wanted again
};

/// A signal handler was started while the thread stood at a site whose hit had been counted. When
/// the handler returns there, the hit is not a new one.
struct HandlerReturn {
  uint64_t site = 0;
  uint64_t sp = 0;
  bool decided = false;  // see Counted
  uint32_t system_calls_left = 0;  // the handler may also never return
};

/// A system call that a thread is inside of: its entry was seen, or an event in the middle of it.
struct KernelCall {
  int64_t number = -1;  // -1: only its exit tells
  bool is_sigreturn = false;
  bool is_ours = false;  // code of ours that the program runs through has made it
};

struct Thread {
  enum class Registers : uint8_t { Unknown, Clean, PcChanged, Changed };
  using Action = ResumeAction::Kind;

  Tid tid = 0;
  Process* process = nullptr;
  Run run = Run::Starting;
  int status = 0;      // wait status of the present stop
  bool fresh = false;  // nobody has looked at `status` yet
  bool begun = false;  // its first stop is behind it
  bool exits = false;  // and its last one (PTRACE_EVENT_EXIT)
  std::optional<bool> is_kernel_worker;  // once somebody has asked
  bool asked = false;  // to stop, since its last stop
  uint64_t noted = 0;  // when its last stop was, as Unborn counts
  Tid child = 0;       // whom its present event tells of, until somebody looks; 0 = nobody
  bool unlisted = false;  // FastSites::threads() did not tell of it
  bool left_group_stop = false;  // by us, for a moment: to be led back
  bool armed = false;            // its debug registers

  user_regs_struct regs{};
  Registers regs_state = Registers::Unknown;
  std::vector<uint8_t> last_block;  // VforkWait: the registers before

  // What the debugger wants.
  bool resumed = false;
  Action action = Action::Continue;
  uint64_t range_start = 0, range_end = 0;
  std::optional<StopEvent::Kind> stop_wanted;  // non-stop: Signal or Interrupted is to be told
  Sampling sampling = Sampling::No;      // what is told then
  std::shared_ptr<Sample> sample;        // what the debugger sees of one that is not `resumed`
  std::optional<StopEvent> pending;  // happened while another event was told
  int deferred_signal = 0;           // to be delivered without telling, at the next start
  int injected = 0;                  // sent by us for the debugger, to be delivered untold
  bool trace_step = false;           // while-stepping

  // What it is in the middle of. Which combinations there are, each of the first two knows.
  Doing doing;
  Counted counted;
  std::optional<KernelCall> call;
  std::vector<HandlerReturn> returns;

  bool watches_system_calls() const;
  /// Is it let go on where it stops by itself?
  bool runs_on() const { return resumed || sample != nullptr; }
};

/// One debug register.
struct HardwareSlot {
  Breakpoints::Kind kind = Breakpoints::Kind::Hardware;
  uint64_t address = 0;
  uint32_t size = 0;  // 1, 2, 4, 8
  int users = 0;      // 0 = free
};

struct Process {
  Pid pid = 0;
  bool attached = false;
  bool our_child = false;
  bool hidden = false;   // shares its parent's memory until exec or exit; nobody is told of it
  bool beside = false;   // shares its parent's memory, and runs at the same time as that
  bool leaving = false;  // an unwanted child: let go at its first stop
  UniqueFd itself;       // a pidfd; none before Linux 5.3
  std::shared_ptr<AddressSpace> space;
  std::vector<Tid> threads;  // in order of their creation
  std::array<HardwareSlot, 4> hardware;
  bool catches_calls = false;
  std::set<int64_t> caught_calls;  // empty = all
  /// Is it let go when it runs a file that gives it rights? Not one that runs beside its parent: it
  /// may make many calls, and never run another program.
  bool keeps_rights() const { return hidden && !beside && takes_rights_at_exec(); }
};

/// Is it one that the debugger is told of?
inline bool seen(const Process& process) { return !process.hidden && !process.leaving; }

inline bool Thread::watches_system_calls() const {
  return doing.site_call() != nullptr || !returns.empty() || process->catches_calls ||
         process->keeps_rights();
}

/// The thread goes on (with that signal), or the debugger is told.
struct Decision {
  int signal = 0;
  std::optional<StopEvent> event;
};

inline StopEvent event_of(StopEvent::Kind kind, Pid pid, Tid tid) {
  StopEvent event;
  event.kind = kind;
  event.pid = pid;
  event.tid = tid;
  return event;
}
inline StopEvent event_of(StopEvent::Kind kind, const Thread& thread) {
  return event_of(kind, thread.process->pid, thread.tid);
}

}  // namespace tracewell::target::live
