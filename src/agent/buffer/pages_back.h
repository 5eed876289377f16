// Gives memory of a trace buffer back in a thread of its own, in pieces: the system takes some
// 0.3 s for a gigabyte, and who serves a debugger is not to be away for that long.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace tracewell::agent {

class PagesBack {
 public:
  struct Job {
    uint8_t* memory = nullptr;  // a mapping that nobody uses any more; none: nullptr
    uint64_t bytes = 0;
    int fd = -1;  // of a file that nobody uses any more from `begin` to `end`, whole pages
    uint64_t begin = 0, end = 0;
  };

  PagesBack() = default;
  ~PagesBack() { stop(); }
  PagesBack(const PagesBack&) = delete;
  PagesBack& operator=(const PagesBack&) = delete;

  /// Behind what is under way. Where there can be no thread, it is done before this returns.
  void start(const Job& job);
  /// When it returns, the mapping is gone and the file is left alone. What of the file was not
  /// given back by then stays.
  void stop();

 private:
  static constexpr uint64_t kPieceBytes = 4 << 20;
  void run(const Job& job);

  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace tracewell::agent
