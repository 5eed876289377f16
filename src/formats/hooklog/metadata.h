// A log of trace hooks: what those who write one and those who read one have in common.
// docs/formats/hooklog.md
#pragma once

#include <tracewell/hook_layout.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracewell::formats {

/// Bytes of a log's files: no writer makes larger ones, and whoever puts one there wants a reader
/// to be busy with it.
inline constexpr uint64_t kHooklogMetadataMax = 1 << 20;
inline constexpr uint64_t kHooklogFileMax = 1 << 30;
inline constexpr uint64_t kHooklogRingMax =
    TRACEWELL_HOOK_PAGE + uint64_t{TRACEWELL_RING_SLOTS_MAX} * TRACEWELL_PACKET_BYTES_MAX;

/// When a tick was: Unix epoch + offset_seconds + (offset_ticks + ticks) / hertz.
struct HooklogClock {
  uint64_t hertz = 0;
  int64_t offset_seconds = 0;
  uint64_t offset_ticks = 0;  // less than hertz

  /// The nanosecond that babeltrace2 tells for these ticks. Saturates where a damaged file asks for
  /// more than an int64_t has.
  int64_t time_ns(uint64_t ticks) const;
};

/// As packets and rings have it.
using HooklogUuid = std::array<uint8_t, 16>;

/// From the text of a log's file `metadata`: which session's it is; nullopt when it does not say.
std::optional<HooklogUuid> read_hooklog_uuid(std::string_view metadata);
/// From the same; nullopt when it has no clock that makes sense.
std::optional<HooklogClock> read_hooklog_clock(std::string_view metadata);
/// The value of `key` in its `env`, without quotes and what escapes some in it; nullopt when there
/// is none.
std::optional<std::string> read_hooklog_fact(std::string_view metadata, std::string_view key);

}  // namespace tracewell::formats
