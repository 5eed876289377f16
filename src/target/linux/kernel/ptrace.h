// ptrace and /proc, thinly: no policy. Failures keep errno.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/result.h"
#include "target/target.h"

namespace tracewell::target::live {

/// A ptrace request; -1 and errno when it fails. ESRCH mostly means: killed meanwhile.
long trace(int request, Tid tid, uint64_t address = 0, uint64_t data = 0);
long trace(int request, Tid tid, uint64_t address, void* data);

/// What the calling thread has done so far that takes time for each thread of a program: calls of
/// ptrace, looks for a status, and walks over the list of threads. For tests of how it grows.
extern thread_local uint64_t work_done;
/// And what takes the kernel as long as the program has threads: looks for a status of any of them,
/// and into files that sum up all threads of a process.
extern thread_local uint64_t walks_done;
/// What of the work the last attaching did while the program stood still.
extern thread_local uint64_t work_standing;

/// The parts of a wait status that ptrace adds.
inline int stop_event(int status) { return static_cast<unsigned>(status) >> 16; }
inline int stop_signal(int status) { return (status >> 8) & 0xff; }
constexpr int kSyscallStop = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD
constexpr int kEventStop = 128;               // PTRACE_EVENT_STOP

bool is_group_stop(int status);
/// Is it the stop behind clone(2) and its like, whose message is the child's number?
bool tells_of_child(int status);
/// The stop that comes before a signal is delivered (also our own traps).
bool is_signal_stop(int status);

/// A thread that is killed leaves the stop that we were told of, for the one on its way out. What
/// PTRACE_GETSIGINFO says then.
inline bool is_leaving(const siginfo_t& info) {
  return info.si_signo == SIGTRAP && info.si_code >> 8 == PTRACE_EVENT_EXIT;
}

/// Has the thread, in another stop, a SIGTRAP of its own making still before it (int3, a step)? It
/// comes at once when the thread goes on, before any instruction.
bool trap_is_pending(Tid tid);

/// Syscall User Dispatch of a stopped thread (prctl(2), PR_SET_SYSCALL_USER_DISPATCH): its system
/// calls become SIGSYS, as Wine has it. nullopt: it has none, or the kernel cannot tell (before
/// Linux 6.4). As the program has asked for it: mode 1 leaves the calls of a range alone, mode 2
/// (Linux 6.17) dispatches those alone.
struct CallDispatch {
  uint64_t mode = 0, selector = 0, offset = 0, length = 0;
};
std::optional<CallDispatch> call_dispatch(Tid tid);
bool set_call_dispatch(Tid tid, const CallDispatch& dispatch);

/// PTRACE_GET_SYSCALL_INFO of a thread that stands at a system call (Linux 5.3). Nothing else tells
/// for sure which side of the call it is, and whose numbers the call means.
struct CallStop {
  enum class Side : uint8_t { None, Entry, Exit };
  Side side = Side::None;
  uint8_t unused[3] = {};
  uint32_t arch = 0;  // AUDIT_ARCH_…
  uint64_t pc = 0, sp = 0;
  uint64_t call[7] = {};  // at the entry: number and arguments
};
std::optional<CallStop> call_stop(Tid tid);

/// A restartable sequence (rseq(2)) that a thread is in, by its own word. The kernel forgets it
/// when the thread runs elsewhere, and moves a thread that runs inside.
struct Sequence {
  uint64_t at = 0;  // where that is written
  uint64_t descriptor = 0;
};
/// The thread is in none then. Nothing where it was in none already, and before Linux 5.13.
std::optional<Sequence> leave_sequence(Tid tid);
void return_into(const Sequence& sequence, Tid tid);

constexpr uint64_t kTrapFlag = 0x100;  // in eflags: a trap after each instruction

/// What we want to be told of. `launched`: the program ends with us.
uint64_t trace_options(bool launched);

int tgkill(Pid pid, Tid tid, int signal);
/// A signal that we took from the thread, with what came with it. The kernel lets us say that only
/// of one that was queued with a value (sigqueue(3), timers); any other is from us now.
void send_again(Pid pid, Tid tid, const siginfo_t& signal);

/// The whole of a small /proc file.
std::optional<std::string> read_proc(Tid tid, const char* name);
/// KiB of the program's code, which stays the same as long as it has this memory; nullopt where it
/// has none. In the middle of exec it is 0: who reads its stat, syscall or maps then waits for the
/// end of that (base/process/aside.h).
std::optional<uint64_t> code_kib(Tid tid);
/// Is the thread the kernel's alone (io_uring's, vhost's)? It never comes out of the kernel, though
/// it stops like others.
bool is_kernel_worker(Tid tid);
/// The thread's numbers, from our PID namespace on down to its own.
std::vector<Tid> numbers_of(Tid tid);
/// The process's number in its own PID namespace; 0 = not known.
Pid number_for_itself(Pid pid);
/// When the process was made, in ticks of sysconf(_SC_CLK_TCK) since the machine was booted.
std::optional<uint64_t> start_ticks(Pid pid);
/// The processor on which the thread runs, or has run last.
std::optional<int64_t> last_processor(Tid tid);

struct ProcStatus {
  char state = '?';
  Pid tgid = 0;
  Pid parent = 0;
  Pid tracer = 0;
  int seccomp = 0;
  uint64_t pending = 0;  // signals of the thread alone, as a mask
};
std::optional<ProcStatus> proc_status(Tid tid);
/// What /proc/TID/status, which is `status`, has in the line of this name; "" = it has none. A
/// thread's name may look like one.
std::string_view status_value(std::string_view status, std::string_view name);

/// A line of /proc/PID/maps.
struct Mapping {
  uint64_t start = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  uint64_t file_offset = 0;
  uint64_t device = 0;  // as stat(2) has it
  uint64_t inode = 0;   // 0 = of no file
  std::string path;
  bool operator==(const Mapping&) const = default;
};
/// None where the process is gone, or `gives_up` (may be empty) says that the server is to end.
std::vector<Mapping> mappings(Tid tid, const std::function<bool()>& gives_up = {});
/// Where the heap of its process begins, whether there is one or not (brk); 0 = not known.
uint64_t heap_start(Tid tid);
/// Is this in memory that other processes may have, too? What is written there is for all of them.
bool is_shared(const std::vector<Mapping>& maps, uint64_t address);
/// Are they the same as at another time? A copy of all that a program has may be large. A program
/// can have two lists with one print: what it is told of itself then is its own loss.
using MappingsPrint = std::array<uint64_t, 2>;
MappingsPrint print_of(const std::vector<Mapping>& maps);

/// Thread ids under /proc/PID/task.
std::vector<Tid> task_ids(Pid pid);
/// Those that /proc shows us.
std::vector<Pid> process_ids();

}  // namespace tracewell::target::live
