// Answers that take long.
#pragma once

#include <chrono>

namespace tracewell::server {

/// GDB waits two seconds for an answer (`set remotetimeout`), tries again some times, and goes on
/// without: to GDB, what it searched for is not there then. `+`, which it passes over, has it wait
/// as long again. For one connection.
class KeepWaiting {
 public:
  /// The debugger has said something.
  void begin_anew() { since_ = Clock::now(); }
  /// To send one?
  bool is_time() {
    if (Clock::now() - since_ < kPatience) return false;
    begin_anew();
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{500};
  Clock::time_point since_ = Clock::now();
};

}  // namespace tracewell::server
