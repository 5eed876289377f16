// What of a live server its user may change while it runs, by options and by `monitor set`.
#pragma once

#include <string_view>

#include "server/live/save_folder.h"
#include "server/live/thread_db_path.h"
#include "server/log.h"

namespace tracewell::server {

struct ServeSettings {
  /// `fd`: as for the log.
  explicit ServeSettings(int fd) : log(fd) {}

  /// `monitor set NAME VALUE`. False: there is no such setting or value, or it cannot be had.
  bool set(std::string_view name, std::string_view value);

  ServeLog log;
  SaveFolder saves;
  ThreadDbPath thread_db;
};

}  // namespace tracewell::server
