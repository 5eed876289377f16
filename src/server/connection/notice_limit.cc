#include "server/connection/notice_limit.h"

#include <utility>

#include <fmt/format.h>

namespace tracewell::server {

void NoticeLimit::say(const std::string& text, const Say& say, Clock::time_point now) {
  if (now >= end_) {
    tell_left_out(say);
    said_ = 0;
    end_ = now + period_;
  }
  if (said_ < most_) {
    ++said_;
    return say(text);
  }
  if (left_out_++ == 0)
    say(fmt::format("Many connections are being closed: further ones are not listed for up to {} "
                    "minutes; their number follows then, or when the server ends",
                    std::chrono::duration_cast<std::chrono::minutes>(period_).count()));
}

std::optional<NoticeLimit::Clock::time_point> NoticeLimit::due() const {
  return left_out_ != 0 ? std::optional(end_) : std::nullopt;
}

void NoticeLimit::tell_left_out(const Say& say) {
  const uint64_t lost = std::exchange(left_out_, 0);
  if (lost == 0) return;
  say(fmt::format("{} more connection{} closed and not listed here", lost,
                  lost == 1 ? " was" : "s were"));
}

}  // namespace tracewell::server
