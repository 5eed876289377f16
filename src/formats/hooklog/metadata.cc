#include "formats/hooklog/metadata.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::formats {
namespace {

constexpr uint64_t kHertzMax = 1'000'000'000'000;
constexpr int64_t kSecondsMax = 1'000'000'000'000;

/// `KEY = VALUE;` in a block that begins with a line `NAME {`, as our writer puts it.
std::optional<std::string_view> setting(std::string_view text, std::string_view block,
                                        std::string_view key) {
  const size_t from = text.find(std::string("\n").append(block).append(" {\n"));
  if (from == std::string_view::npos) return std::nullopt;
  const size_t to = text.find("\n}", from);
  if (to == std::string_view::npos) return std::nullopt;
  text = text.substr(from, to + 1 - from);  // with the last line's end
  const std::string start = std::string("\n  ").append(key).append(" = ");
  const size_t at = text.find(start);
  const size_t end = at == std::string_view::npos ? at : text.find(";\n", at);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(at + start.size(), end - at - start.size());
}

}  // namespace

std::optional<HooklogClock> read_hooklog_clock(std::string_view metadata) {
  const auto number = [&](std::string_view key) {
    const auto text = setting(metadata, "clock", key);
    return text ? parse_number(*text) : std::nullopt;
  };
  const auto hertz = number("freq");
  const auto ticks = number("offset");
  const auto seconds = setting(metadata, "clock", "offset_s");
  if (!hertz || !ticks || !seconds || *hertz == 0 || *hertz > kHertzMax || *ticks >= *hertz)
    return std::nullopt;
  const bool before = seconds->starts_with('-');
  const auto whole = parse_number(seconds->substr(before ? 1 : 0));
  if (!whole || *whole > kSecondsMax) return std::nullopt;
  const auto signed_whole = static_cast<int64_t>(*whole);
  return HooklogClock{*hertz, before ? -signed_whole : signed_whole, *ticks};
}

std::optional<HooklogUuid> read_hooklog_uuid(std::string_view metadata) {
  const auto text = setting(metadata, "trace", "uuid");
  if (!text) return std::nullopt;
  std::string digits;
  std::ranges::copy_if(*text, std::back_inserter(digits),
                       [](char c) { return c != '-' && c != '"'; });
  HooklogUuid uuid;
  const auto bytes = from_hex(digits);
  if (!bytes || bytes->size() != uuid.size()) return std::nullopt;
  std::ranges::copy(*bytes, uuid.begin());
  return uuid;
}

std::optional<std::string> read_hooklog_fact(std::string_view metadata, std::string_view key) {
  const auto value = setting(metadata, "env", key);
  if (!value) return std::nullopt;
  if (value->size() < 2 || !value->starts_with('"') || !value->ends_with('"'))
    return std::string(*value);
  std::string out;
  for (size_t i = 1; i + 1 < value->size(); ++i) {
    const char next = (*value)[i + 1];
    const bool escaped = (*value)[i] == '\\' && i + 2 < value->size();
    if (escaped && (next == '"' || next == '\\')) ++i;
    out += (*value)[i];
  }
  return out;
}

// CTF says what is to be computed, and not how it is rounded. As babeltrace2 2.0 does it, as its
// output shows: offset and ticks are converted each for itself, by floating-point numbers, and what
// is behind the nanosecond is cut off. Exact arithmetic would be another nanosecond (and, where a
// counter has more than 2^53 ns, some more), and times would differ between the tools.
int64_t HooklogClock::time_ns(uint64_t ticks) const {
  using Wide = __int128;
  constexpr Wide kNano = 1'000'000'000;
  const auto converted = [this](uint64_t count) {
    if (hertz == uint64_t{kNano}) return count;
    const double ns = 1e9 * static_cast<double>(count) / static_cast<double>(hertz);
    return ns < 0x1p64 ? static_cast<uint64_t>(ns) : std::numeric_limits<uint64_t>::max();
  };
  const Wide ns =
      offset_seconds * kNano + Wide{converted(offset_ticks)} + Wide{converted(ticks)};
  constexpr Wide kLeast = std::numeric_limits<int64_t>::min();
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(ns, kLeast, kMost));
}

}  // namespace tracewell::formats
