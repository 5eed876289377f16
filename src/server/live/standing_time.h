// How long a program stood still that was found running: who attaches to a service wants to know.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tracewell::server {

class StandingTime {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(Clock::time_point since) { since_ = since; }
  /// It runs, or has been let go: tells how long it stood, once.
  void end(const std::function<void(std::string_view)>& tell) {
    if (!since_) return;
    const std::chrono::duration<double> stood = Clock::now() - *since_;
    since_.reset();
    tell(fmt::format("The program stood still for {:.3f} s", stood.count()));
  }

 private:
  std::optional<Clock::time_point> since_;
};

}  // namespace tracewell::server
