// PrintQueue: what breakpoint commands print, on its way to standard output. Maybe nobody reads
// that, or its disk is full: so no hit waits for it. What is not taken at once waits here, up to a
// bound. What finds no room is left out, and whoever reads on is told how much that was, where it
// would have stood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tracewell::server {

class PrintQueue {
 public:
  /// Bytes that may wait, beside what a pipe holds; each text costs some more than its own.
  static constexpr size_t kWaitingMax = 1 << 20;

  /// How long to go on writing: until nothing has been taken for `idle_ms`, for `all_ms` at most.
  struct Patience {
    int idle_ms = 0, all_ms = 0;
  };

  /// `fd` is borrowed. `quit_fd`: readable = the server is to end.
  PrintQueue(int fd, int quit_fd);
  /// Does not wait either.
  ~PrintQueue();
  PrintQueue(const PrintQueue&) = delete;
  PrintQueue& operator=(const PrintQueue&) = delete;

  /// Never waits.
  void print(std::string_view text);
  /// What waits is written out, with less patience from when the server is to end. Returns how many
  /// texts were not taken, nor a note that they are missing.
  uint64_t finish(Patience usual, Patience at_quit);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with a thread, which may stand in a write when we end
  int quit_fd_;
};

}  // namespace tracewell::server
