// Target: what a debuggee can do, whoever it is: live Linux processes (linux/), memory made up by a
// test (fake/), a recorded trace (recorded/). The agent knows nothing else of the world.
//
// All-stop: between two resumes every thread of every process stands still, and everything below
// may be asked. Where the target can, threads may also stop one by one (target/non_stop.h).
//
// An optional ability is a capability that returns null, never a flag beside a method
// that fails. All calls come from one thread, except wake().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/registers.h"
#include "model/snapshot.h"
#include "target/breakpoints.h"
#include "target/libraries.h"
#include "target/non_stop.h"
#include "target/process_facts.h"
#include "target/signal_info.h"
#include "target/sites.h"
#include "target/system_calls.h"
#include "target/time_travel.h"

namespace tracewell::target {

struct ProcessInfo {
  Pid pid = 0;
  bool attached = false;  // we found it running (a debugger then detaches rather than kills)
};

struct ThreadInfo {
  Pid pid = 0;
  Tid tid = 0;
  std::string name;  // this and the next by Target::describe()
  int core = -1;     // -1 = not known
  bool running = false;  // non-stop: it was resumed, and no stop has been told
  bool sampled = false;  // non-stop: it runs on behind the stop that was told (NonStop::sample())
};

/// A process that stands still until an event tells who has made it.
struct UntoldFork {
  Pid pid = 0, creator = 0;
};

/// Why everything stopped (or, for Exited and Signalled, that a process is gone).
struct StopEvent {
  enum class Kind : uint8_t {
    Signal,      // `signal` arrived (and has not been delivered: resume decides)
    Breakpoint,  // a software breakpoint; the pc is its address
    Hardware,    // a hardware breakpoint
    Watchpoint,  // `address` was touched
    Stepped,     // a step or range-step is complete
    Interrupted, // interrupt() was called
    Fork,        // child_pid is new, attached, stopped
    Vfork,
    VforkDone,
    Exec,        // `path` is what runs now
    Exited,      // `exit_code`
    Signalled,   // killed by `signal`
    NoneLeft,    // nothing is left to wait for
    SystemCallEntry,  // `system_call` is about to be done
    SystemCallReturn, // it has been done
    ThreadCreated,    // `tid` is new, and stands at its first instruction
    ThreadExited,     // `tid` is gone, with `exit_code`; its process is not
    HistoryBegin,     // a recording goes back no further
    HistoryEnd,       // nor forwards
  };
  Kind kind = Kind::Signal;
  Pid pid = 0;
  Tid tid = 0;
  int signal = 0;  // the host's (Linux) number
  int exit_code = 0;
  uint64_t address = 0;
  Pid child_pid = 0;
  int64_t system_call = 0;  // its number
  std::string path;
};

/// What one thread does when the world goes on. A thread that is not named stays stopped.
struct ResumeAction {
  enum class Kind : uint8_t { Continue, Step, RangeStep };
  Tid tid = 0;
  Kind kind = Kind::Continue;
  int signal = 0;                       // to deliver (Linux number), 0 = none
  uint64_t range_start = 0, range_end = 0;  // RangeStep: step while start <= pc < end
};

/// Starting, attaching to and letting go of processes.
class Processes {
 public:
  struct LaunchOptions {
    std::vector<std::string> argv;     // argv[0] is looked up in PATH
    std::vector<std::string> wrapper;  // `--wrapper`
    std::vector<std::string> environment_set, environment_unset;  // "NAME=value", "NAME"
    std::string working_directory;     // "" = ours
    bool disable_randomization = true;
    bool startup_with_shell = true;
    bool keep_stdio_free = false;      // stdin and stdout carry the protocol
  };
  virtual ~Processes() = default;
  /// Stopped at its first instruction (after shell and wrappers). The event is Signal, SIGTRAP.
  virtual Result<StopEvent> launch(const LaunchOptions& options) = 0;
  /// All threads found and stopped. The event is Signal with signal 0.
  virtual Result<StopEvent> attach(Pid pid) = 0;
  /// Patches are taken out, the process runs on by itself.
  virtual Status detach(Pid pid) = 0;
  /// Between calls of wait(): a killed program's parent learns of its end, and threads are let go
  /// that had not stopped when attach() gave up. In how many milliseconds again? -1 = never.
  virtual int look_after() { return -1; }
  /// The process is gone when this returns; no event follows.
  virtual Status kill(Pid pid) = 0;
  /// Which events are told. A child that is not told of is let go at once.
  virtual void report_forks(bool fork, bool vfork, bool exec) {
    (void)fork, (void)vfork, (void)exec;
  }
  /// Are ThreadCreated and ThreadExited told? At first they are not.
  virtual void report_threads(bool report) { (void)report; }
};

/// Variables of which each thread has its own.
class ThreadLocals {
 public:
  virtual ~ThreadLocals() = default;
  /// Where `offset` of a module's variables is for this thread. `link_map`: the loader's entry of
  /// the module, 0 = the program itself. NotFound: not there (yet).
  virtual Result<uint64_t> address(Tid tid, uint64_t link_map, uint64_t offset) = 0;
};

class Target {
 public:
  virtual ~Target() = default;

  virtual std::vector<ProcessInfo> processes() const = 0;
  /// Of one process; all of them for pid 0. The first is the leader where it still lives.
  virtual std::vector<ThreadInfo> threads(Pid pid) const = 0;
  /// Adds what threads() leaves out where the system has to be asked for each thread.
  virtual void describe(ThreadInfo& thread) const { (void)thread; }

  /// Registers of this process's threads; lives as long as the process (until exec).
  virtual const RegisterLayout& layout(Pid pid) const = 0;
  /// The target description document that `layout` comes from.
  virtual const std::string& target_description(Pid pid) const = 0;
  virtual Endian endian() const { return Endian::Little; }
  /// Does the process run another program since an exec that is to be told, and has not been?
  virtual bool exec_untold(Pid pid) {
    (void)pid;
    return false;
  }
  /// Has a process ended, and wait() has not told of it yet?
  virtual bool end_untold() { return false; }
  /// The forks (and vforks) that are to be told of, and have not been.
  virtual std::vector<UntoldFork> untold_forks() { return {}; }

  /// `block` has layout().size_bytes.
  virtual Status read_registers(Tid tid, std::span<uint8_t> block) = 0;
  virtual Status write_registers(Tid tid, Bytes block) = 0;
  /// Which of them are known: one bit a register (by index in the layout, least significant bit
  /// first). Empty = all. Those that are not are zero in the block.
  virtual std::vector<uint8_t> known_registers(Tid tid);
  /// Bytes read: the readable prefix. Our patches do not show.
  virtual size_t read_memory(Pid pid, uint64_t address, std::span<uint8_t> into) = 0;
  /// All that can be read, behind what cannot, too, and how each byte is known; `states` is as long
  /// as `bytes`, which are 0 where nobody knows.
  virtual void read_known_memory(Pid pid, uint64_t address, std::span<uint8_t> bytes,
                                 std::span<ByteState> states);
  /// All or nothing. Our patches stay in force.
  virtual Status write_memory(Pid pid, uint64_t address, Bytes bytes) = 0;

  /// Starts the named threads: at least one, unless an end is untold.
  virtual Status resume(std::span<const ResumeAction> actions) = 0;
  /// Blocks until something must be told (then everything is stopped), or wake() is called
  /// (nullopt; everything runs on). Tracepoint hits are handled inside and not told.
  virtual Result<std::optional<StopEvent>> wait() = 0;
  /// Makes a running wait() return, or the next one, once. May be called from any thread.
  virtual void wake() {}
  /// Asks for a stop; wait() then tells Interrupted. If something else is told first, the next
  /// wait() that finds nothing better to tell does.
  virtual Status interrupt() = 0;

  virtual Processes* process_control() { return nullptr; }
  virtual Breakpoints* breakpoints() { return nullptr; }
  virtual TraceSites* trace_sites() { return nullptr; }
  virtual ProcessFacts* facts() { return nullptr; }
  virtual Libraries* libraries() { return nullptr; }
  virtual SignalInfo* signals() { return nullptr; }
  virtual SystemCalls* system_calls() { return nullptr; }
  virtual ThreadLocals* thread_locals() { return nullptr; }
  virtual NonStop* non_stop() { return nullptr; }
  virtual TimeTravel* time_travel() { return nullptr; }
};

}  // namespace tracewell::target
