#include "target/linux/ptrace.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/folder.h"
#include "base/open.h"
#include "base/text.h"

namespace tracewell::target::live {

static_assert(kEventStop == PTRACE_EVENT_STOP);

long trace(int request, Tid tid, uint64_t address, uint64_t data) {
  return ptrace(static_cast<__ptrace_request>(request), static_cast<pid_t>(tid), address, data);
}

long trace(int request, Tid tid, uint64_t address, void* data) {
  return ptrace(static_cast<__ptrace_request>(request), static_cast<pid_t>(tid), address, data);
}

bool is_group_stop(int status) {
  if (stop_event(status) != kEventStop) return false;
  const int signal = stop_signal(status);
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool is_signal_stop(int status) {
  return stop_event(status) == 0 && stop_signal(status) != kSyscallStop;
}

bool trap_is_pending(Tid tid) {
  constexpr size_t kAtOnce = 8;
  siginfo_t infos[kAtOnce];
  __ptrace_peeksiginfo_args from{0, 0, kAtOnce};
  for (long got = 0; (got = trace(PTRACE_PEEKSIGINFO, tid, reinterpret_cast<uint64_t>(&from),
                                  infos)) > 0;
       from.off += static_cast<uint64_t>(got))
    for (long i = 0; i < got; ++i)
      if (infos[i].si_signo == SIGTRAP && infos[i].si_code > 0) return true;
  return false;
}

std::optional<CallDispatch> call_dispatch(Tid tid) {
  constexpr int kGetDispatch = 0x4211;  // PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
  CallDispatch found;
  if (trace(kGetDispatch, tid, sizeof found, &found) != 0 || found.mode == 0) return std::nullopt;
  return found;
}

bool set_call_dispatch(Tid tid, const CallDispatch& dispatch) {
  constexpr int kSetDispatch = 0x4210;
  CallDispatch copy = dispatch;
  return trace(kSetDispatch, tid, sizeof copy, &copy) == 0;
}

int tgkill(Pid pid, Tid tid, int signal) {
  return static_cast<int>(syscall(SYS_tgkill, pid, tid, signal));
}

std::optional<std::string> read_proc(Tid tid, const char* name) {
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

std::optional<int64_t> last_processor(Tid tid) {
  constexpr int kProcessor = 36;  // proc(5): field 39, the third is behind the name in brackets
  const auto text = read_proc(tid, "stat");
  const size_t name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  std::string field;
  for (int i = 0; i <= kProcessor; ++i)
    if (!(fields >> field)) return std::nullopt;
  return std::strtoll(field.c_str(), nullptr, 10);
}

std::optional<ProcStatus> proc_status(Tid tid) {
  const auto text = read_proc(tid, "status");
  if (!text) return std::nullopt;
  ProcStatus result;
  for (std::string_view line : split(*text, '\n')) {
    const std::string_view key = take_until(line, ':');
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    const std::string value(line);
    if (key == "State" && !value.empty()) result.state = value[0];
    if (key == "Tgid") result.tgid = std::strtol(value.c_str(), nullptr, 10);
    if (key == "PPid") result.parent = std::strtol(value.c_str(), nullptr, 10);
    if (key == "TracerPid") result.tracer = std::strtol(value.c_str(), nullptr, 10);
    if (key == "Seccomp") result.seccomp = std::atoi(value.c_str());
  }
  return result;
}

namespace {

std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping map;
  char flags[5] = {};
  int path_at = 0;
  const std::string text(line);
  unsigned long start = 0, end = 0, offset = 0, inode = 0;
  unsigned major = 0, minor = 0;
  if (std::sscanf(text.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, flags, &offset,
                  &major, &minor, &inode, &path_at) < 7)
    return std::nullopt;
  map.start = start;
  map.end = end;
  map.file_offset = offset;
  map.device = makedev(major, minor);
  map.inode = inode;
  map.readable = flags[0] == 'r';
  map.writable = flags[1] == 'w';
  map.executable = flags[2] == 'x';
  map.shared = flags[3] == 's';
  if (path_at > 0) map.path = text.substr(static_cast<size_t>(path_at));
  return map;
}

}  // namespace

std::vector<Mapping> mappings(Tid tid) {
  std::vector<Mapping> result;
  const auto text = read_proc(tid, "maps");
  if (!text) return result;
  for (std::string_view line : split(*text, '\n'))
    if (auto map = parse_mapping(line)) result.push_back(std::move(*map));
  return result;
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

std::vector<Tid> task_ids(Pid pid) { return ids_in(fmt::format("/proc/{}/task", pid)); }

std::vector<Pid> process_ids() { return ids_in("/proc"); }

}  // namespace tracewell::target::live
