#include "target/linux/memory/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/process/aside.h"

namespace tracewell::target::live {
namespace {

constexpr unsigned kPidfdThread = O_EXCL;  // PIDFD_THREAD, of Linux 6.9

Error swapped() {
  return {Errc::Unsupported,
          "another process changes its descriptors: what it shares with us is not the memory that "
          "it made for that",
          {}};
}

/// A thread may have a table of descriptors of its own. Kernels before 6.9 take the number of a
/// process alone, those before 5.6 have no such call, and a container may forbid it: then the
/// descriptor's link is followed, which leads to the same file.
Result<UniqueFd> take(Tid tid, int64_t number) {
  for (const unsigned flags : {kPidfdThread, 0u}) {
    const UniqueFd thread(static_cast<int>(::syscall(SYS_pidfd_open, tid, flags)));
    if (!thread.valid()) continue;
    UniqueFd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, thread.get(), number, 0)));
    if (taken.valid()) return taken;
    if (errno == EBADF) return swapped();
  }
  const std::string link = fmt::format("/proc/{}/fd/{}", tid, number);
  TW_ASSIGN_OR_RETURN(const UniqueFd held, hold_behind(link));
  return open_held(held.get(), HeldUse::ReadAndWrite, link);
}

/// Files are made in its name: the last of the four user ids.
std::optional<uint32_t> file_user(Tid tid) {
  const auto status = read_proc(tid, "status");
  const size_t at = status ? status->find("\nUid:") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const char* text = status->c_str() + at + 5;
  unsigned long user = 0;
  for (int i = 0; i < 4; ++i) {
    char* end = nullptr;
    user = std::strtoul(text, &end, 10);
    text = end;
  }
  return static_cast<uint32_t>(user);
}

bool is_same(Tid tid, Tid other, int what) {
  return ::syscall(SYS_kcmp, tid, other, what, 0, 0) == 0;
}

/// It has memory, and no code in it, as for a moment there; by the numbers of pages in all, and of
/// its code (the fourth). One that is not in the middle of exec may be so a moment later.
bool is_amid_exec(Pid process) {
  const auto pages = read_proc(process, "statm");
  if (!pages) return false;
  std::istringstream numbers(*pages);
  uint64_t all = 0, resident = 0, shared = 0, code = 0;
  numbers >> all >> resident >> shared >> code;
  return all != 0 && code == 0;
}

/// Anybody's process is asked about, and may begin an exec just now: then it is not.
bool is_so(std::function<bool()> ask) {
  return asked_aside<bool>(std::move(ask)).value_or(false);
}

}  // namespace

bool shares_memory(Tid tid, Tid other) {
  const auto code = code_kib(other);
  return code && *code != 0 && code == code_kib(tid) &&
         is_so([tid, other] { return is_same(tid, other, KCMP_VM); });
}

bool has_other_memory(Tid tid, Tid other) {
  const auto code = code_kib(other), own = code_kib(tid);
  if (!code || !own || *code == 0 || *own == 0) return false;
  return *code != *own || is_so([tid, other] {
    return ::syscall(SYS_kcmp, tid, other, KCMP_VM, 0, 0) > 0;  // which of them comes first
  });
}

bool shares_descriptors(Pid pid, Tid tid) {
  std::vector<Pid> others = process_ids();
  // Threads of one process have one memory; and of ours, no other process has the descriptors.
  std::erase_if(others, [pid, ours = ::getpid()](Pid one) { return one == pid || one == ours; });
  const auto shares = [tid](Pid process) {
    return !is_amid_exec(process) && std::ranges::any_of(task_ids(process), [tid](Tid other) {
      return is_same(tid, other, KCMP_FILES) && !is_same(tid, other, KCMP_VM);
    });
  };
  const auto answer =
      asked_aside<bool>([shares, others] { return std::ranges::any_of(others, shares); });
  if (answer) return *answer;
  // One of them keeps the rest waiting.
  return std::ranges::any_of(others, [&](Pid process) {
    return is_so([shares, process] { return shares(process); });
  });
}

/// Other files in memory have a seal from the beginning, which forbids further ones.
Result<UniqueFd> take_memfd(Tid tid, int64_t number) {
  TW_ASSIGN_OR_RETURN(UniqueFd taken, take(tid, number));
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(taken.get(), "memory of the program"));
  const int access = ::fcntl(taken.get(), F_GETFL);
  const bool is_new = facts.kind == FileFacts::Kind::Regular && facts.links == 0 &&
                      facts.bytes == 0 && facts.owner == file_user(tid) && access != -1 &&
                      (access & O_ACCMODE) == O_RDWR && ::fcntl(taken.get(), F_GET_SEALS) == 0;
  if (!is_new) return swapped();
  return taken;
}

Status size_memfd(int memfd, uint64_t bytes) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (::ftruncate(memfd, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memfd, F_ADD_SEALS, kSeals) != 0)
    return errno_error("memory of the program", Errc::Target);
  TW_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(memfd, "memory of the program"));
  if (facts.bytes != bytes) return swapped();
  return {};
}

Error why_unmapped(int error_number) {
  for (const int other_file : {EACCES, EPERM, EBADF, ENODEV})
    if (error_number == other_file) return swapped();
  return errno_error(error_number, "memory cannot be mapped in the program", Errc::Target);
}

Status is_mapped_at(Tid tid, uint64_t address, uint64_t bytes, const FileFacts& file) {
  const std::vector<Mapping> maps = mappings(tid);
  const auto at = std::ranges::find_if(maps, [&](const Mapping& one) {
    return address >= one.start && address < one.end;
  });
  if (at == maps.end() || at->start != address || at->end - address < bytes || !at->shared ||
      at->file_offset != 0 || at->device != file.device || at->inode != file.inode)
    return swapped();
  return {};
}

}  // namespace tracewell::target::live
