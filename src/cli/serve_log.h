// What the server prints: notices for its user, and with --debug and --remote-debug what goes on.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace tracewell::cli {

class ServeLog {
 public:
  ServeLog() = default;
  ~ServeLog();
  ServeLog(const ServeLog&) = delete;
  ServeLog& operator=(const ServeLog&) = delete;

  bool debug = false;
  bool packets = false;
  bool timestamps = false;
  /// Where debugging output goes: a file that is made anew; "" = standard error.
  Status set_file(const std::string& path);
  /// "all", "none", "timestamp", or several with commas.
  bool set_format(std::string_view text);
  /// `monitor set NAME VALUE`. False: there is no such setting or value, or, as a notice says, the
  /// file cannot be written.
  bool set(std::string_view name, std::string_view value);

  /// One line on standard error.
  void notice(std::string_view line) const;
  /// Debugging output, when it is on.
  void packet(bool received, std::string_view packet) const;

 private:
  void print(std::string_view line) const;
  std::FILE* file_ = nullptr;  // nullptr: standard error
};

}  // namespace tracewell::cli
