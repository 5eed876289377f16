// As ctime() writes it, in UTC. The four bytes are taken as unsigned, so they last until 2106.
#include <ctime>

#include <fmt/format.h>

#include "report/codes.h"

namespace tracewell::report::codes {

bool T::read(Context& context, const CodeUse& use, Value& value) {
  return read_number(context, use, use.bytes, value.number);
}

void T::print(Context& context, const CodeUse&, const Value& value) {
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto seconds = static_cast<time_t>(value.number & 0xffffffff);
  tm date = {};
  gmtime_r(&seconds, &date);
  constexpr size_t kLongest = 32;
  char* to = context.line.item(kLongest);
  const auto end =
      fmt::format_to_n(to, kLongest, "{} {} {:2} {:02}:{:02}:{:02} {}",
                       kDays.substr(date.tm_wday * 3, 3), kMonths.substr(date.tm_mon * 3, 3),
                       date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, date.tm_year + 1900);
  context.line.commit(end.size);
}

}  // namespace tracewell::report::codes
