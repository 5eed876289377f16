#include "server/live/settings.h"

#include <string>

namespace tracewell::server {

bool ServeSettings::set(std::string_view name, std::string_view value) {
  if (name == "save-dir") return saves.set_folder(std::string(value)).ok();
  if (name == "libthread-db-search-path") {
    thread_db.set(std::string(value));
    return true;
  }
  if (name != "save-overwrite") return log.set(name, value);
  if (value != "0" && value != "1") return false;
  saves.set_overwrite(value == "1");
  return true;
}

}  // namespace tracewell::server
