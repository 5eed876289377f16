#include "target/linux/kernel/frozen.h"

#include <algorithm>

#include "target/linux/kernel/control_groups.h"

namespace tracewell::target::live {

bool is_frozen(Tid tid) {
  const auto text = read_proc(tid, "cgroup");
  if (!text) return false;
  const GroupFolders folders = group_folders(*text, "freezer");
  return std::ranges::any_of(folders.second, [](const std::string& folder) {
           return group_says(folder, "cgroup.freeze") == "1";
         }) ||
         std::ranges::any_of(folders.first, [](const std::string& folder) {
           return group_says(folder, "freezer.state") == "FROZEN";
         });
}

}  // namespace tracewell::target::live
