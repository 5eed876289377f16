// Moments, for people.
#pragma once

#include <cstdint>
#include <string>

namespace tracewell {

/// Nanoseconds since the epoch as "2024-05-01 12:00:00.123456789 UTC". A clock that plainly does
/// not count from the epoch (gdbserver's counts from the machine's start) gives "12.345 s" instead.
std::string time_text(int64_t time_ns);

}  // namespace tracewell
