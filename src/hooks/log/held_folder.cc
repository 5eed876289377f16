#include "hooks/log/held_folder.h"

#include <fmt/format.h>

#include "base/files/open.h"
#include "base/files/paths.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {
namespace {

constexpr int kLooksMax = 1000;

}  // namespace

Result<HeldFolder> HeldFolder::open(const std::string& path) {
  TW_ASSIGN_OR_RETURN(Folder folder, open_own_log(path));
  return HeldFolder(std::move(folder));
}

bool HeldFolder::is_at(const std::string& path) const {
  const auto held = folder_.facts();
  const auto named = facts_at(path);
  return held.ok() && named && named->is_same(*held);
}

/// What was removed has no link any more (rmdir(2)); its name in /proc says nothing, since anybody
/// may make a folder of that name. Where there is no /proc, it is where it was. Who may rename it
/// can do so between the two looks, again and again, but not meet them each time.
std::optional<std::string> HeldFolder::now() const {
  const std::string link = fmt::format("/proc/self/fd/{}", folder_.fd());
  for (int i = 0; i < kLooksMax; ++i) {
    const std::string where = link_text(link).value_or(folder_.path());
    if (is_at(where)) return where;
    const auto facts = folder_.facts();
    if (!facts.ok() || facts->links == 0) break;
  }
  return std::nullopt;
}

}  // namespace tracewell::hooks
