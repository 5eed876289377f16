#include "hooks/control/believed_files.h"

#include <fmt/format.h>

namespace tracewell::hooks {

std::optional<std::string> BelievedFiles::path(const Result<std::string>& path) {
  if (path.ok()) return *path;
  // Where nothing is there yet, nothing is left out.
  if (path.error().code != Errc::NotFound && !std::exchange(told_, true))
    work_.tell(fmt::format("{} (nothing that is there is used)", path.error().message));
  return std::nullopt;
}

}  // namespace tracewell::hooks
