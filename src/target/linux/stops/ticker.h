// Makes a blocking wait() look up now and then: a thread that rings the bell.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "target/linux/stops/bell.h"

namespace tracewell::target::live {

class Ticker {
 public:
  explicit Ticker(Bell& bell) : bell_(bell) {}
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// Both may be called when it is so already. Io when there may be no more threads.
  Status start();
  void stop();

 private:
  Bell& bell_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool wanted_ = false;
  std::thread thread_;
};

}  // namespace tracewell::target::live
