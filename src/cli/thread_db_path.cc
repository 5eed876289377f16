#include "cli/thread_db_path.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"

namespace tracewell::cli {

Status ThreadDbPath::found() const {
  if (text_.empty()) return {};
  for (const std::string_view folder : split(text_, ':')) {
    if (folder == "$sdir") return {};
    std::error_code error;
    if (std::filesystem::is_regular_file(std::filesystem::path(folder) / "libthread_db.so.1",
                                         error))
      return {};
  }
  return {Errc::NotFound, fmt::format("there is no libthread_db in '{}'", printable(text_))};
}

}  // namespace tracewell::cli
