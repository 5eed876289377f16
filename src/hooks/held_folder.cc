#include "hooks/held_folder.h"

#include <fmt/format.h>

#include "base/open.h"
#include "base/paths.h"
#include "hooks/log_folder.h"

namespace tracewell::hooks {

Result<HeldFolder> HeldFolder::open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(Folder folder, open_own_log(path));
  return HeldFolder(std::move(folder));
}

bool HeldFolder::is_at(const std::string& path) const {
  const auto held = folder_.facts();
  const auto named = facts_at(path);
  return held.ok() && named && named->is_same(*held);
}

/// What was removed has a name still, with something behind it: nothing is there. Where there is no
/// /proc, it is where it was.
std::optional<std::string> HeldFolder::now() const {
  const std::string where =
      link_text(fmt::format("/proc/self/fd/{}", folder_.fd())).value_or(folder_.path());
  if (!is_at(where)) return std::nullopt;
  return where;
}

}  // namespace tracewell::hooks
