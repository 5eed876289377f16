// A log of trace hooks: what those who write one and those who read one have in common.
// docs/formats/hooklog.md
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracewell::formats {

/// When a tick was: Unix epoch = origin_ns + ticks / hertz.
struct HooklogClock {
  uint64_t hertz = 0;
  int64_t offset_seconds = 0;
  uint64_t offset_ticks = 0;  // less than hertz

  /// Saturates where a damaged file asks for more than an int64_t has.
  int64_t time_ns(uint64_t ticks) const;
};

/// From the text of a log's file `metadata`; nullopt when it has no clock that makes sense.
std::optional<HooklogClock> read_hooklog_clock(std::string_view metadata);
/// The value of `key` in its `env`, without quotes; nullopt when there is none.
std::optional<std::string_view> read_hooklog_fact(std::string_view metadata, std::string_view key);

}  // namespace tracewell::formats
