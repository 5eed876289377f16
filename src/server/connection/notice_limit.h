// Notices whose number somebody else decides, as of connections that are refused: the log shows the
// first ones of each period, and how many of it were left out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tracewell::server {

/// For one thread.
class NoticeLimit {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string&)>;

  NoticeLimit(int most, Clock::duration period) : most_(most), period_(period) {}

  /// Says `text`, unless the period that began with an earlier one has had its number.
  void say(const std::string& text, const Say& say, Clock::time_point now);
  /// When tell_left_out() is to be called: the end of a period with notices that were left out.
  std::optional<Clock::time_point> due() const;
  /// Says how many notices were left out since this was said last, if any.
  void tell_left_out(const Say& say);

 private:
  int most_;
  Clock::duration period_;
  Clock::time_point end_{};  // of the period
  int said_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace tracewell::server
