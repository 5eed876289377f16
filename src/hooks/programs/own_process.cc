#include "hooks/programs/own_process.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/owners.h"
#include "base/process/aside.h"
#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

/// A process whose first thread has ended is there as long as it has others.
bool has_other_threads(const std::string& process) {
  const auto tasks = Folder::named(process + "/task");
  const auto names = tasks.ok() ? tasks->names() : Result<std::vector<std::string>>(tasks.error());
  return names.ok() && names->size() > 1;
}

}  // namespace

/// proc(5): real, effective, saved, and that of the file system.
std::optional<ProcessUsers> users_of_process(const std::string& process) {
  const auto status = InputFile::open(process + "/status");
  if (!status.ok()) return std::nullopt;
  std::string_view ids = as_text((*status)->bytes());
  const bool ended = ids.find("\nState:\tZ") != std::string_view::npos;
  if (ended && !has_other_threads(process)) return std::nullopt;
  ids.remove_prefix(std::min(ids.find("\nUid:\t"), ids.size()));
  const auto words = split(ids.substr(0, ids.find('\n', 1)), '\t');
  if (words.size() < 3) return std::nullopt;
  const auto real = parse_number(words[1]), effective = parse_number(words[2]);
  if (!real || !effective) return std::nullopt;
  return ProcessUsers{static_cast<uint32_t>(*real), static_cast<uint32_t>(*effective)};
}

bool is_own_process(const std::string& process) {
  const auto users = users_of_process(process);
  return users && is_own_user(users->real) && is_own_user(users->effective);
}

namespace {

/// Its folder is held, so that it is the same process all the time. Which memory is read is decided
/// when the file is opened; it was this user's if the process was so before and is so after that.
std::shared_ptr<InputFile> own_file(uint32_t pid, const std::string& name) {
  const auto folder = Folder::named(fmt::format("/proc/{}", pid));
  if (!folder.ok()) return nullptr;
  const std::string process = fmt::format("/proc/self/fd/{}", folder->fd());
  if (!is_own_process(process)) return nullptr;
  auto fd = open_named(process + "/" + name);
  if (!fd.ok() || !is_own_process(process)) return nullptr;
  auto file = InputFile::of(*std::move(fd), folder->path_of(name));
  return file.ok() ? *std::move(file) : nullptr;
}

/// Processes that did not answer; they are not asked for a while.
class Unanswered {
 public:
  bool has(uint32_t pid) {
    const std::lock_guard lock(mutex_);
    const auto found = until_.find(pid);
    return found != until_.end() && Clock::now() < found->second;
  }
  void add(uint32_t pid) {
    const std::lock_guard lock(mutex_);
    if (until_.size() >= kMost) until_.clear();
    until_[pid] = Clock::now() + kWhile;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kWhile{10};
  static constexpr size_t kMost = 4096;
  std::mutex mutex_;
  std::map<uint32_t, Clock::time_point> until_;
};

/// proc(5): the 22nd field of /proc/PID/stat. The second is a name between brackets that may have
/// blanks.
uint64_t start_in(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  stat.remove_prefix(name_end);
  constexpr int kFieldsBetween = 20;
  for (int i = 0; i < kFieldsBetween; ++i) {
    const size_t blank = stat.find(' ');
    if (blank == std::string_view::npos) return 0;
    stat.remove_prefix(blank + 1);
  }
  return parse_number(stat.substr(0, stat.find(' '))).value_or(0);
}

}  // namespace

uint64_t start_of_process(uint32_t pid) {
  static Unanswered unanswered;
  if (unanswered.has(pid)) return 0;
  const auto start = asked_aside<uint64_t>([pid]() -> uint64_t {
    const auto file = InputFile::open(fmt::format("/proc/{}/stat", pid));
    return file.ok() ? start_in(as_text((*file)->bytes())) : 0;
  });
  if (!start) unanswered.add(pid);
  return start.value_or(0);
}

std::shared_ptr<InputFile> own_maps(uint32_t pid) { return own_file(pid, "maps"); }

/// proc(5): address, rights, offset, device, inode, and the file's whole path.
std::optional<bool> has_mapped(uint32_t pid, std::string_view end, uint64_t inode) {
  constexpr std::string_view kDeleted = " (deleted)";
  const auto maps = own_maps(pid);
  const std::string_view text = maps ? as_text(maps->bytes()) : std::string_view();
  if (text.empty()) return std::nullopt;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with(kDeleted)) line.remove_suffix(kDeleted.size());
    if (!line.ends_with(end)) continue;
    std::string_view before = line.substr(0, line.find('/'));
    while (before.ends_with(' ')) before.remove_suffix(1);
    if (inode == 0 || parse_number(before.substr(before.rfind(' ') + 1)) == inode) return true;
  }
  return false;
}

std::shared_ptr<InputFile> own_environment(uint32_t pid) { return own_file(pid, "environ"); }

}  // namespace tracewell::hooks
