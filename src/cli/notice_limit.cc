#include "cli/notice_limit.h"

#include <utility>

#include <fmt/format.h>

namespace tracewell::cli {

void NoticeLimit::say(const std::string& text, const Say& say, Clock::time_point now) {
  if (now >= end_) {
    if (const uint64_t lost = std::exchange(left_out_, 0); lost != 0)
      say(fmt::format("{} more connections were closed that are not listed here", lost));
    said_ = 0;
    end_ = now + period_;
  }
  if (said_ < most_) {
    ++said_;
    return say(text);
  }
  if (left_out_++ == 0)
    say(fmt::format("Many connections are being closed: the next ones are only counted, for at "
                    "most {} minutes",
                    std::chrono::duration_cast<std::chrono::minutes>(period_).count()));
}

}  // namespace tracewell::cli
