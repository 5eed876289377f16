// ThreadDbPath: gdbserver's `monitor set libthread-db-search-path`. Our way to thread-local
// variables needs no libthread_db; but who names folders without one wants to see a debugger do
// without such variables.
#pragma once

#include <string>

#include "base/result.h"

namespace tracewell::server {

class ThreadDbPath {
 public:
  /// Folders with colons between them. `$sdir` is wherever the system has its libraries; `$pdir`,
  /// the folder of the program's libpthread, holds nothing with the C libraries of today. "" = the
  /// default, which both stand for.
  void set(std::string text) { text_ = std::move(text); }
  /// NotFound when none of the folders has a libthread_db, as of now.
  Status found() const;

 private:
  std::string text_;
};

}  // namespace tracewell::server
