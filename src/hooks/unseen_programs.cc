// A control file's name has the version of the layout in it (hook_layout.h), so that programs and
// commands that would misread each other never meet. Nobody else would notice: hence this look
// through the mappings of processes. proc(5): a mapping's line ends with its file, and " (deleted)"
// where that has no name any more.
#include "hooks/unseen_programs.h"

#include <tracewell/hook_layout.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/paths.h"
#include "base/text.h"
#include "hooks/control.h"
#include "hooks/own_process.h"

namespace tracewell::hooks {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// What all versions of the file are called, before the number.
std::string_view common_name() {
  const std::string_view name = TRACEWELL_CONTROL_NAME;
  return name.substr(0, name.find('-') + 1);
}

std::optional<UnseenProgram> look_at(uint32_t pid, std::string_view maps,
                                     const std::string& folder) {
  const std::string start = folder + "/" + std::string(common_name());
  std::optional<UnseenProgram> out;
  for (const std::string_view line : split(maps, '\n')) {
    // All of the file's path: another folder may have a name that ends like this one's.
    const std::string_view path = line.substr(std::min(line.find('/'), line.size()));
    if (!path.starts_with(start)) continue;
    std::string_view name = path.substr(folder.size() + 1);
    const bool removed = name.ends_with(kDeleted);
    if (removed) name.remove_suffix(kDeleted.size());
    // One that has ours, too, is a command that is at work, or seen.
    if (!removed && name == TRACEWELL_CONTROL_NAME) return std::nullopt;
    if (!out) out = UnseenProgram{pid, "", std::string(name), removed};
  }
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
  for (const std::string& name : *names) {
    const auto pid = parse_number(name);
    if (!pid || *pid > INT32_MAX) continue;
    const std::string process = proc->path_of(name);
    // Only this user's: no others have hooks for a trace of this user's.
    const auto maps = own_maps(static_cast<uint32_t>(*pid));
    if (!maps) continue;
    auto found = look_at(static_cast<uint32_t>(*pid), as_text(maps->bytes()), *folder);
    if (!found || is_of_ours(process)) continue;
    const auto exe = link_text(process + "/exe");
    found->path = exe.value_or("");
    if (exe) out.push_back(*std::move(found));
  }
  std::ranges::sort(out, {}, &UnseenProgram::pid);
  return out;
}

}  // namespace tracewell::hooks
