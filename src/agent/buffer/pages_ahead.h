// Makes the next pages of a trace buffer in a thread of its own: the system fills each with zeros,
// which takes longer than to write frames to it, and hits wait for whoever writes them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tracewell::agent {

class PagesAhead {
 public:
  /// Makes pages from `begin` to `end`; false: it cannot. Called in the thread, in steps.
  using Make = std::function<bool(uint64_t begin, uint64_t end)>;

  PagesAhead() = default;
  ~PagesAhead() { stop(); }
  PagesAhead(const PagesAhead&) = delete;
  PagesAhead& operator=(const PagesAhead&) = delete;

  /// From `begin` on, for so many bytes ahead of what advance() says, and not behind `end`. Where
  /// there can be no thread, nothing is done.
  void start(Make make, uint64_t begin, uint64_t end);
  /// So far they are needed already.
  void advance(uint64_t to);
  /// All pages before this are there. 0: that is not known.
  uint64_t made() const { return made_.load(std::memory_order_acquire); }
  /// Nobody knows any more which pages are there.
  void stop();

 private:
  static constexpr uint64_t kStepBytes = 1 << 20, kAheadBytes = 16 << 20;
  void run();

  Make make_;
  std::atomic<uint64_t> made_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t needed_ = 0, end_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tracewell::agent
