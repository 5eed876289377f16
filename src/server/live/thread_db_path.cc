#include "server/live/thread_db_path.h"

#include <string>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"

namespace tracewell::server {

Status ThreadDbPath::found() const {
  if (text_.empty()) return {};
  for (const std::string_view folder : split(text_, ':')) {
    if (folder == "$sdir") return {};
    if (is_regular_file(std::string(folder) + "/libthread_db.so.1")) return {};
  }
  return {Errc::NotFound, fmt::format("there is no libthread_db in '{}'", printable(text_))};
}

}  // namespace tracewell::server
