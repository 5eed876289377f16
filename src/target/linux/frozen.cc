#include "target/linux/frozen.h"

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace tracewell::target::live {
namespace {

std::string first_line(const std::string& path) {
  const auto file = InputFile::open(path);
  const std::string_view text = file.ok() ? as_text((*file)->bytes()) : std::string_view();
  return std::string(text.substr(0, text.find('\n')));
}

/// Does a file say so of the group, or of one above it?
bool says(const std::string& mounted, std::string_view group, const std::string& file,
          std::string_view value) {
  for (;;) {
    if (first_line(mounted + std::string(group) + "/" + file) == value) return true;
    if (group.empty() || group == "/") return false;
    group = group.substr(0, group.rfind('/'));
  }
}

}  // namespace

/// proc(5): a line for each hierarchy: its number, its controllers, the group. That of the second
/// version is 0, without controllers.
bool is_frozen(Pid pid) {
  const auto text = read_proc(pid, "cgroup");
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t group_at = line.find('/');
    if (group_at == line.npos) continue;
    const std::string_view hierarchy = line.substr(0, group_at), group = line.substr(group_at);
    if (hierarchy == "0::") {
      for (const char* const mounted : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        if (says(mounted, group, "cgroup.freeze", "1")) return true;
    } else if (hierarchy.find("freezer") != hierarchy.npos &&
               says("/sys/fs/cgroup/freezer", group, "freezer.state", "FROZEN")) {
      return true;
    }
  }
  return false;
}

}  // namespace tracewell::target::live
