#include "base/text/time_text.h"

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace tracewell {

std::string time_text(int64_t time_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kYear2000 = 946'684'800;
  const int64_t seconds = time_ns / kSecond, fraction = time_ns % kSecond;
  if (seconds < kYear2000)
    return fmt::format("{}{}.{:09} s", time_ns < 0 ? "-" : "", std::abs(seconds),
                       std::abs(fraction));
  const auto moment = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  gmtime_r(&moment, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     fraction);
}

}  // namespace tracewell
