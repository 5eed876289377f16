// A control file's name has the version of the layout in it (hook_layout.h), so that programs and
// commands that would misread each other never meet. Nobody else would notice: hence this look
// through the mappings of processes. proc(5): a mapping's line ends with its file, and " (deleted)"
// where that has no name any more.
#include "hooks/unseen_programs.h"

#include <tracewell/hook_layout.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "hooks/control.h"

namespace tracewell::hooks {
namespace {

namespace fs = std::filesystem;

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
    const size_t at = line.find(start);
    if (at == std::string_view::npos) continue;
    std::string_view name = line.substr(at + folder.size() + 1);
    const bool removed = name.ends_with(kDeleted);
    if (removed) name.remove_suffix(kDeleted.size());
    // One that has ours, too, is a command that is at work, or seen.
    if (!removed && name == TRACEWELL_CONTROL_NAME) return std::nullopt;
    if (!out) out = UnseenProgram{pid, "", std::string(name), removed};
  }
  return out;
}

/// Commands and collectors look at the file as programs do, and have no hooks.
bool is_of_ours(const fs::path& process) {
  std::error_code error;
  return fs::equivalent(process / "exe", "/proc/self/exe", error);
}

}  // namespace

std::vector<UnseenProgram> unseen_programs() {
  std::vector<UnseenProgram> out;
  std::error_code error;
  const std::string folder = fs::canonical(control_folder(), error).string();
  if (error) return out;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    const auto pid = parse_number(process.path().filename().string());
    if (!pid || *pid > INT32_MAX) continue;
    const auto maps = InputFile::open(process.path().string() + "/maps");
    if (!maps.ok()) continue;
    auto found = look_at(static_cast<uint32_t>(*pid), as_text((*maps)->bytes()), folder);
    if (!found || is_of_ours(process.path())) continue;
    std::error_code gone;
    found->path = fs::read_symlink(process.path() / "exe", gone).string();
    if (!gone) out.push_back(*std::move(found));
  }
  std::ranges::sort(out, {}, &UnseenProgram::pid);
  return out;
}

}  // namespace tracewell::hooks
