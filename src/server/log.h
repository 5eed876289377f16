// What the server says: notices for its user, and with --debug and --remote-debug what goes on.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::server {

class ServeLog {
 public:
  /// `fd`, which is borrowed, is where its user reads: standard error.
  explicit ServeLog(int fd) : fd_(fd) {}

  bool debug = false;
  bool packets = false;
  bool timestamps = false;
  /// Readable when the server is to end: no line waits any longer then. -1 = never.
  int quit_fd = -1;
  /// Where debugging output goes: a file that is made anew; "" = to its user. Before there is a
  /// quit_fd, it waits until somebody reads a FIFO.
  Status set_file(const std::string& path);
  /// "all", "none", "timestamp", or several with commas.
  bool set_format(std::string_view text);
  /// `monitor set NAME VALUE`. False: there is no such setting or value, or, as a notice says, the
  /// file cannot be written.
  bool set(std::string_view name, std::string_view value);

  /// One line to its user. Where nobody reads that, the server goes on without: the line counts as
  /// missing, and the next one that can be written says so. Any thread.
  void notice(std::string_view line) const;
  /// Debugging output, when it is on. Waits until it is read.
  void packet(bool received, std::string_view packet) const;

 private:
  void print(std::string_view line) const;
  void to_user(std::string line, int patience_ms) const;
  bool put(int fd, Bytes text, int patience_ms) const;
  bool has_room(int fd, int patience_ms) const;
  int fd_;
  mutable std::mutex mutex_;       // of fd_, and what follows
  mutable uint64_t left_out_ = 0;  // lines, since the last that was written
  mutable std::mutex file_mutex_;  // of what follows
  UniqueFd file_;                  // not valid: fd_
};

}  // namespace tracewell::server
