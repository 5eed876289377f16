#include "trace/questions/found.h"

#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

struct SignedNumber {
  bool minus = false;
  uint64_t value = 0;  // two's complement
};
std::optional<SignedNumber> parse_signed(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  const auto number = parse_number(text);
  if (!number || (minus && *number > uint64_t{1} << 63)) return std::nullopt;
  return SignedNumber{minus && *number != 0, minus ? ~*number + 1 : *number};
}

}  // namespace

bool NumberRange::holds(Bytes bytes, Endian endian) const {
  const uint64_t value = load_uint(bytes.data(), bytes.size(), endian);
  if (!is_signed) return value >= low && value <= last;
  const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
  const int64_t number = static_cast<int64_t>(value << unused) >> unused;
  return number >= static_cast<int64_t>(low) && number <= static_cast<int64_t>(last);
}

Result<NumberRange> parse_number_range(std::string_view text) {
  const size_t dots = text.find("..");
  const auto low = parse_signed(text.substr(0, dots));
  const auto last = dots == text.npos ? low : parse_signed(text.substr(dots + 2));
  if (!low || !last)
    return {Errc::InvalidArgument,
            fmt::format("wanted is a number, or LOW..LAST{}", hex_hint(text))};
  const NumberRange out{low->minus || last->minus, low->value, last->value};
  const bool too_large = out.is_signed && ((!low->minus && low->value > INT64_MAX) ||
                                           (!last->minus && last->value > INT64_MAX));
  const bool empty = out.is_signed
                         ? static_cast<int64_t>(out.low) > static_cast<int64_t>(out.last)
                         : out.low > out.last;
  if (empty || too_large)
    return {Errc::InvalidArgument, "nothing is in this range", failures::kEmptyRange};
  return out;
}

}  // namespace tracewell::trace
