// PrintQueue: what breakpoint commands print, on its way to standard output. Maybe nobody reads
// that: so no hit waits for it. What is not taken at once waits here, up to a bound. What finds no
// room is left out, and whoever reads on is told how much that was, where it would have stood.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"

namespace tracewell::cli {

class PrintQueue {
 public:
  /// Bytes that may wait, beside what a pipe holds; each text costs some more than its own.
  static constexpr size_t kWaitingMax = 1 << 20;

  /// `fd` is borrowed. `quit_fd`: readable = the server is to end, and waits for nobody.
  PrintQueue(int fd, int quit_fd);
  ~PrintQueue();
  PrintQueue(const PrintQueue&) = delete;
  PrintQueue& operator=(const PrintQueue&) = delete;

  /// Never waits.
  void print(std::string_view text);
  /// What waits is written out until nobody has taken any for `patience_ms`, for `all_ms` at most.
  /// Returns how many texts nobody has been given, nor been told that they are missing.
  uint64_t finish(int patience_ms, int all_ms);

 private:
  struct Text {
    std::string bytes;
    uint64_t stands_for = 1;  // texts: a note is of those that are missing
    size_t cost() const { return sizeof *this + bytes.size(); }
  };
  void run();
  void write_some();
  void add(Text text);
  void add_note();

  int fd_;
  UniqueFd own_;  // the same pipe or terminal, where it can be had for ourselves: it never blocks
  int quit_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Text> waiting_;
  size_t cost_ = 0;        // of what waits
  size_t sent_ = 0;        // bytes of the first
  uint64_t left_out_ = 0;  // texts behind what waits
  bool in_line_ = false;   // what was added last ends within a line
  bool closed_ = false;    // nobody can read any more
  bool ends_ = false;
  std::thread thread_;     // waits until more is taken; begun when something first waits
};

}  // namespace tracewell::cli
