// A control file's name has the version of the layout in it (hook_layout.h), so that programs and
// commands that would misread each other never meet. Nobody else would notice: hence this look
// through the mappings of processes. proc(5): a mapping's line ends with its file, and " (deleted)"
// where that has no name any more.
#include "hooks/programs/unseen_programs.h"

#include <tracewell/hook_layout.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/control.h"
#include "hooks/programs/own_process.h"

namespace tracewell::hooks {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// What all versions of the file are called, before the number.
std::string_view common_name() {
  const std::string_view name = TRACEWELL_CONTROL_NAME;
  return name.substr(0, name.find('-') + 1);
}

/// Where programs that begin as commands of this user do may look for the file.
class MeetingPlaces {
 public:
  explicit MeetingPlaces(std::string ours) : ours_(std::move(ours)) {
    add(runtime_in(::secure_getenv("XDG_RUNTIME_DIR")));
    add(usual_runtime());
    const auto control = facts_at(ours_ + "/" + TRACEWELL_CONTROL_NAME);
    if (control) inode_ = control->inode;
  }

  const std::string& ours() const { return ours_; }
  /// By another name, as where a folder is mounted twice.
  bool is_ours(uint64_t inode) const { return inode_ == inode; }
  bool contain(std::string_view folder) const {
    const std::string in_tmp = fmt::format("/tmp/tracewell-{}", ::geteuid());
    return folder == in_tmp || folder.starts_with(in_tmp + "-") ||
           std::ranges::find(others_, folder) != others_.end();
  }

  /// Who gives a program another variable may mean that: it is not told.
  static bool has_our_variable(uint32_t pid) {
    constexpr std::string_view kName = "XDG_RUNTIME_DIR=";
    const auto file = own_environment(pid);
    if (!file) return false;
    std::string theirs = usual_runtime();
    for (const std::string_view one : split(as_text(file->bytes()), '\0'))
      if (one.starts_with(kName)) theirs = one.substr(kName.size());
    return theirs == runtime_in(::secure_getenv("XDG_RUNTIME_DIR"));
  }

 private:
  static std::string usual_runtime() { return fmt::format("/run/user/{}", ::geteuid()); }
  static std::string runtime_in(const char* variable) {
    return variable ? std::string(variable) : usual_runtime();
  }
  void add(const std::string& runtime) {
    if (auto path = real_path(runtime + "/tracewell")) others_.push_back(*std::move(path));
  }

  std::string ours_;
  std::vector<std::string> others_;
  std::optional<uint64_t> inode_;
};

/// A file of one of its versions that is mapped.
struct MappedControl {
  std::string_view folder, name;
  uint64_t inode = 0;
  bool removed = false;
};

/// proc(5): address, rights, offset, device, inode, and the file's whole path.
std::optional<MappedControl> control_in(std::string_view line) {
  const size_t begin = std::min(line.find('/'), line.size());
  std::string_view path = line.substr(begin);
  MappedControl out;
  out.removed = path.ends_with(kDeleted);
  if (out.removed) path.remove_suffix(kDeleted.size());
  const size_t slash = path.rfind('/');
  if (slash == path.npos || !path.substr(slash + 1).starts_with(common_name())) return std::nullopt;
  out.folder = path.substr(0, slash);
  out.name = path.substr(slash + 1);
  std::string_view before = line.substr(0, begin);
  while (before.ends_with(' ')) before.remove_suffix(1);
  out.inode = parse_number(before.substr(before.rfind(' ') + 1)).value_or(0);
  return out;
}

std::optional<UnseenProgram> look_at(uint32_t pid, std::string_view maps,
                                     const MeetingPlaces& places) {
  std::optional<UnseenProgram> out;
  for (const std::string_view line : split(maps, '\n')) {
    const auto mapped = control_in(line);
    if (!mapped) continue;
    const bool is_current = !mapped->removed && mapped->name == TRACEWELL_CONTROL_NAME;
    const bool is_here = mapped->folder == places.ours();
    // One that has ours, too, is a command that is at work, or seen.
    if (is_current && (is_here || places.is_ours(mapped->inode))) return std::nullopt;
    if (out || (!is_here && !places.contain(mapped->folder))) continue;
    out = UnseenProgram{.pid = pid, .path = "", .looks_at = std::string(mapped->name),
                        .removed = mapped->removed, .elsewhere = !is_here};
    if (!is_here) out->looks_at = fmt::format("{}/{}", mapped->folder, mapped->name);
  }
  if (out && out->elsewhere && !MeetingPlaces::has_our_variable(pid)) return std::nullopt;
  return out;
}

/// Commands and collectors look at the file as programs do, and have no hooks.
bool is_of_ours(const std::string& process) {
  return is_same_file(process + "/exe", "/proc/self/exe");
}

}  // namespace

std::vector<UnseenProgram> unseen_programs() {
  std::vector<UnseenProgram> out;
  const auto folder = real_path(control_folder());
  const auto proc = Folder::named("/proc");
  const auto names = proc.ok() ? proc->names() : Result<std::vector<std::string>>(proc.error());
  if (!folder || !names.ok()) return out;
  const MeetingPlaces places(*folder);
  for (const std::string& name : *names) {
    const auto pid = parse_number(name);
    if (!pid || *pid > INT32_MAX) continue;
    const std::string process = proc->path_of(name);
    // Only this user's: no others have hooks for a trace of this user's.
    const auto maps = own_maps(static_cast<uint32_t>(*pid));
    if (!maps) continue;
    auto found = look_at(static_cast<uint32_t>(*pid), as_text(maps->bytes()), places);
    if (!found || is_of_ours(process)) continue;
    const auto exe = link_text(process + "/exe");
    found->path = exe.value_or("");
    if (exe) out.push_back(*std::move(found));
  }
  std::ranges::sort(out, {}, &UnseenProgram::pid);
  return out;
}

}  // namespace tracewell::hooks
