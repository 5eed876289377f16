#include "target/linux/kernel/exec_rights.h"

#include <string>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/process/aside.h"
#include "target/linux/kernel/compat32.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kPathMax = 4096;

struct Exec {
  uint64_t path = 0;          // in memory
  int32_t folder = AT_FDCWD;  // where a relative one begins
};

std::optional<Exec> exec_at(const user_regs_struct& regs, bool is_32_bit) {
  const auto number = static_cast<int32_t>(regs.orig_rax);
  const SystemCalls& numbers = system_calls(is_32_bit);
  const uint64_t first = first_argument(regs, is_32_bit);
  if (number == numbers.execve) return Exec{first, AT_FDCWD};
  const uint64_t second = is_32_bit ? static_cast<uint32_t>(regs.rcx) : regs.rsi;
  if (number == numbers.execveat) return Exec{second, static_cast<int32_t>(first)};
  return std::nullopt;
}

/// What the process means by the path, as a path of ours. An empty one is the open file itself.
std::string path_for_us(Tid tid, const Exec& exec, const std::string& path) {
  const std::string process = fmt::format("/proc/{}", tid);
  if (path.starts_with('/'))
    return is_same_file(process + "/root", "/") ? path : process + "/root" + path;
  const std::string folder = exec.folder == AT_FDCWD
                                 ? process + "/cwd"
                                 : fmt::format("{}/fd/{}", process, exec.folder);
  return path.empty() ? folder : folder + "/" + path;
}

bool gives_rights(const std::string& path) {
  const auto facts = facts_at(path);
  if (!facts || facts->kind != FileFacts::Kind::Regular) return false;
  if ((facts->mode & S_ISUID) != 0) return true;
  if ((facts->mode & S_ISGID) != 0 && (facts->mode & S_IXGRP) != 0) return true;
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

bool takes_rights_at_exec() {
  static const bool takes = [] {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    return syscall(SYS_capget, &header, data) != 0 ||
           (data[0].effective & uint32_t{1} << CAP_SYS_PTRACE) == 0;
  }();
  return takes;
}

/// Its files may be in a file system that does not answer.
bool runs_privileged_file(Tid tid, const user_regs_struct& regs, const PatchedMemory& memory) {
  const auto exec = exec_at(regs, memory.is_32_bit);
  if (!exec) return false;
  const std::string path = path_for_us(tid, *exec, memory.read_text(exec->path, kPathMax));
  return asked_aside<bool>([path] { return gives_rights(path); }).value_or(false);
}

}  // namespace tracewell::target::live
