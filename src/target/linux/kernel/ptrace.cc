#include "target/linux/kernel/ptrace.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>

#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/murmur3.h"
#include "base/text/text.h"

namespace tracewell::target::live {

static_assert(kEventStop == PTRACE_EVENT_STOP);

thread_local uint64_t work_done = 0;
thread_local uint64_t walks_done = 0, work_standing = 0;

long trace(int request, Tid tid, uint64_t address, uint64_t data) {
  ++work_done;
  return ptrace(static_cast<__ptrace_request>(request), static_cast<pid_t>(tid), address, data);
}

long trace(int request, Tid tid, uint64_t address, void* data) {
  ++work_done;
  return ptrace(static_cast<__ptrace_request>(request), static_cast<pid_t>(tid), address, data);
}

bool tells_of_child(int status) {
  const int event = WIFSTOPPED(status) ? stop_event(status) : 0;
  return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
}

bool is_group_stop(int status) {
  if (stop_event(status) != kEventStop) return false;
  const int signal = stop_signal(status);
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool is_signal_stop(int status) {
  return stop_event(status) == 0 && stop_signal(status) != kSyscallStop;
}

/// The kernel goes through the queue from its beginning for each signal that it shows, and whoever
/// may send the thread signals makes the queue long: only the first ones are looked at. Where
/// there are more, any SIGTRAP is taken for one: it comes before all but SIGILL in any case.
bool trap_is_pending(Tid tid) {
  constexpr size_t kAtOnce = 8;
  constexpr uint64_t kTrap = uint64_t{1} << (SIGTRAP - 1);
  siginfo_t infos[kAtOnce];
  __ptrace_peeksiginfo_args from{0, 0, kAtOnce};
  const long got = trace(PTRACE_PEEKSIGINFO, tid, reinterpret_cast<uint64_t>(&from), infos);
  bool found = false;
  for (long i = 0; i < got && !found; ++i)
    found = infos[i].si_signo == SIGTRAP && infos[i].si_code > 0;
  if (!found && got == static_cast<long>(kAtOnce)) {
    const auto status = proc_status(tid);
    found = status && (status->pending & kTrap) != 0;
  }
  // The kernel unblocks its own: one that is blocked was sent by the program, and does not come.
  uint64_t blocked = 0;
  return found && trace(PTRACE_GETSIGMASK, tid, sizeof blocked, &blocked) == 0 &&
         (blocked & kTrap) == 0;
}

std::optional<CallDispatch> call_dispatch(Tid tid) {
  constexpr int kGetDispatch = 0x4211;  // PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
  CallDispatch found;
  if (trace(kGetDispatch, tid, sizeof found, &found) != 0 || found.mode == 0) return std::nullopt;
  // A range of calls that are dispatched is kept by the kernel as the range of all others, which
  // goes round the end of memory. It tells that range, and refuses to be given it.
  constexpr uint64_t kExclusive = 1, kInclusive = 2;
  const uint64_t end = found.offset + found.length;
  if (found.mode == kExclusive && found.offset != 0 && end <= found.offset)
    return CallDispatch{kInclusive, found.selector, end, 0 - found.length};
  return found;
}

bool set_call_dispatch(Tid tid, const CallDispatch& dispatch) {
  constexpr int kSetDispatch = 0x4210;
  CallDispatch copy = dispatch;
  return trace(kSetDispatch, tid, sizeof copy, &copy) == 0;
}

std::optional<CallStop> call_stop(Tid tid) {
  constexpr int kGetSyscallInfo = 0x420e;
  CallStop found;
  if (trace(kGetSyscallInfo, tid, sizeof found, &found) <= 0) return std::nullopt;
  return found;
}

std::optional<Sequence> leave_sequence(Tid tid) {
  constexpr int kGetRseqConfiguration = 0x420f;
  constexpr uint64_t kDescriptorOffset = 8;
  struct {
    uint64_t area = 0;
    uint32_t bytes = 0, signature = 0, flags = 0, unused = 0;
  } found;
  if (trace(kGetRseqConfiguration, tid, sizeof found, &found) <= 0 || found.area == 0)
    return std::nullopt;
  Sequence sequence{found.area + kDescriptorOffset, 0};
  errno = 0;
  sequence.descriptor = static_cast<uint64_t>(trace(PTRACE_PEEKDATA, tid, sequence.at));
  if (errno != 0 || sequence.descriptor == 0) return std::nullopt;
  trace(PTRACE_POKEDATA, tid, sequence.at, uint64_t{0});
  return sequence;
}

void return_into(const Sequence& sequence, Tid tid) {
  trace(PTRACE_POKEDATA, tid, sequence.at, sequence.descriptor);
}

uint64_t trace_options(bool launched) {
  return PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
         PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
         (launched ? PTRACE_O_EXITKILL : 0);
}

int tgkill(Pid pid, Tid tid, int signal) {
  return static_cast<int>(syscall(SYS_tgkill, pid, tid, signal));
}

void send_again(Pid pid, Tid tid, const siginfo_t& signal) {
  siginfo_t copy = signal;
  if (signal.si_code < 0 && signal.si_code != SI_TKILL &&
      syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal.si_signo, &copy) == 0)
    return;
  (void)tgkill(pid, tid, signal.si_signo);
}

std::optional<std::string> read_proc(Tid tid, const char* name) {
  ++work_done;
  if (std::strcmp(name, "stat") == 0) ++walks_done;
  const auto fd = open_named(fmt::format("/proc/{}/{}", tid, name));
  if (!fd.ok()) return std::nullopt;
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = read(fd->get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

std::optional<uint64_t> code_kib(Tid tid) {
  const auto status = read_proc(tid, "status");
  if (!status || status_value(*status, "VmSize").empty()) return std::nullopt;
  return std::strtoul(std::string(status_value(*status, "VmExe")).c_str(), nullptr, 10);
}

namespace {

/// proc(5): of the thread's own stat, by its number there. The third is behind the name in
/// brackets. For /proc/TID/stat the kernel would sum up the times of all threads of the process.
std::optional<uint64_t> stat_field(Tid tid, int number) {
  const auto text = read_proc(tid, fmt::format("task/{}/stat", tid).c_str());
  const size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view fields = std::string_view(*text).substr(name_end + 1);
  for (int i = 2; i < number; ++i) {
    const size_t space = fields.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    fields.remove_prefix(space + 1);
  }
  return std::strtoull(std::string(take_until(fields, ' ')).c_str(), nullptr, 10);
}

}  // namespace

std::vector<Tid> numbers_of(Tid tid) {
  const auto status = read_proc(tid, "status");
  if (!status) return {};
  std::istringstream line{std::string(status_value(*status, "NSpid"))};
  using Numbers = std::istream_iterator<Tid>;
  return {Numbers(line), Numbers()};
}

/// Without PID namespaces the kernel has no such line.
Pid number_for_itself(Pid pid) {
  const auto status = read_proc(pid, "status");
  if (!status) return 0;
  std::string_view numbers = status_value(*status, "NStgid");
  if (numbers.empty()) return pid;
  numbers.remove_prefix(numbers.find_last_of(" \t") + 1);  // npos + 1 = 0
  return static_cast<Pid>(std::strtol(std::string(numbers).c_str(), nullptr, 10));
}

std::optional<uint64_t> start_ticks(Pid pid) {
  constexpr int kStart = 22;
  return stat_field(pid, kStart);
}

std::optional<int64_t> last_processor(Tid tid) {
  constexpr int kProcessor = 39;
  const auto number = stat_field(tid, kProcessor);
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

/// Where /proc cannot be read, their registers tell: the kernel begins them with these.
bool is_kernel_worker(Tid tid) {
  constexpr int kFlags = 9;
  constexpr uint64_t kIoWorker = 0x10, kUserWorker = 0x4000;  // PF_…_WORKER
  const auto flags = code_kib(tid) == 0 ? std::nullopt : stat_field(tid, kFlags);
  if (flags) return (*flags & (kIoWorker | kUserWorker)) != 0;
  user_regs_struct regs{};
  return trace(PTRACE_GETREGS, tid, 0, &regs) == 0 && regs.rip == 0 && regs.rsp == 0;
}

std::string_view status_value(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    std::string_view line = take_until(status, '\n');
    if (take_until(line, ':') != name) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line;
  }
  return {};
}

std::optional<ProcStatus> proc_status(Tid tid) {
  const auto text = read_proc(tid, "status");
  if (!text) return std::nullopt;
  const auto number = [&](std::string_view name, int base) {
    return std::strtoul(std::string(status_value(*text, name)).c_str(), nullptr, base);
  };
  ProcStatus result;
  if (const auto state = status_value(*text, "State"); !state.empty()) result.state = state[0];
  result.tgid = static_cast<Pid>(number("Tgid", 10));
  result.parent = static_cast<Pid>(number("PPid", 10));
  result.tracer = static_cast<Pid>(number("TracerPid", 10));
  result.seccomp = static_cast<int>(number("Seccomp", 10));
  result.pending = number("SigPnd", 16);
  return result;
}

namespace {

/// Takes a number, and the character behind it; the line's end is as good as a space.
bool take_number(std::string_view& text, uint64_t& number, int base, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto length = static_cast<size_t>(end - text.data());
  if (error != std::errc{} || (length < text.size() ? *end : ' ') != behind) return false;
  text.remove_prefix(std::min(length + 1, text.size()));
  return true;
}

/// proc_pid_maps(5): "START-END rwxp OFFSET MAJOR:MINOR INODE", and a path behind some spaces.
std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping map;
  uint64_t major = 0, minor = 0;
  if (!take_number(line, map.start, 16, '-') || !take_number(line, map.end, 16, ' ') ||
      line.size() < 5)
    return std::nullopt;
  map.readable = line[0] == 'r';
  map.writable = line[1] == 'w';
  map.executable = line[2] == 'x';
  map.shared = line[3] == 's';
  line.remove_prefix(5);
  if (!take_number(line, map.file_offset, 16, ' ') || !take_number(line, major, 16, ':') ||
      !take_number(line, minor, 16, ' ') || !take_number(line, map.inode, 10, ' '))
    return std::nullopt;
  map.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  map.path = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return map;
}

}  // namespace

/// The kernel lets nobody write to shared memory that its program must not write to itself.
bool is_shared(const std::vector<Mapping>& maps, uint64_t address) {
  return std::ranges::any_of(maps, [&](const Mapping& one) {
    return one.shared && one.writable && address >= one.start && address < one.end;
  });
}

/// start_brk, in proc_pid_stat(5).
uint64_t heap_start(Tid tid) {
  constexpr int kStartBrk = 47;
  return stat_field(tid, kStartBrk).value_or(0);
}

/// A program may have tens of thousands of them, with long paths: seconds of the kernel's work.
std::vector<Mapping> mappings(Tid tid, const std::function<bool()>& gives_up) {
  std::vector<Mapping> result;
  const auto fd = open_named(fmt::format("/proc/{}/maps", tid));
  if (!fd.ok()) return result;
  std::string text;  // that no line of is complete yet
  std::vector<char> piece(1 << 16);
  for (;;) {
    const ssize_t got = read(fd->get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || (gives_up && gives_up())) return {};
    if (got == 0) return result;
    text.append(piece.data(), static_cast<size_t>(got));
    const size_t end = text.rfind('\n') + 1;
    for (std::string_view line : split(std::string_view(text).substr(0, end), '\n'))
      if (auto map = parse_mapping(line)) result.push_back(std::move(*map));
    text.erase(0, end);
  }
}

namespace {

/// The names in a folder that are numbers.
std::vector<Tid> ids_in(const std::string& folder) {
  std::vector<Tid> result;
  const auto open = Folder::named(folder);
  const auto names = open.ok() ? open->names() : Result<std::vector<std::string>>(open.error());
  if (!names.ok()) return result;
  for (const std::string& name : *names)
    if (const long tid = std::strtol(name.c_str(), nullptr, 10); tid > 0) result.push_back(tid);
  std::ranges::sort(result);
  return result;
}

}  // namespace

MappingsPrint print_of(const std::vector<Mapping>& maps) {
  MappingsPrint print{maps.size(), 0};
  for (const Mapping& map : maps) {
    const auto path = murmur3_x64_128(as_bytes(map.path), 0);
    const uint64_t rights = uint64_t{map.readable} | uint64_t{map.writable} << 1 |
                            uint64_t{map.executable} << 2 | uint64_t{map.shared} << 3;
    const uint64_t words[] = {print[0],        print[1],   map.start, map.end, rights,
                              map.file_offset, map.device, map.inode, path[0], path[1]};
    print = murmur3_x64_128({reinterpret_cast<const uint8_t*>(words), sizeof words}, 0);
  }
  return print;
}

std::vector<Tid> task_ids(Pid pid) { return ids_in(fmt::format("/proc/{}/task", pid)); }

std::vector<Pid> process_ids() { return ids_in("/proc"); }

}  // namespace tracewell::target::live
