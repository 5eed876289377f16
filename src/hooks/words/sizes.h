// Sizes of buffers and logs as users write them, and which there may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::hooks {

/// A number of bytes, with k, m or g behind it if need be.
std::optional<uint64_t> size_in_bytes(std::string_view text);

/// A buffer's smallest and largest size, in bytes.
struct SizeLimits {
  uint64_t least, most;
};
/// The sizes that rings of a trace have, and those of a component.
extern const SizeLimits kBufferLimits, kComponentBufferLimits;
/// "64k", "3m", "1000": as size_in_bytes() reads it.
std::string size_text(uint64_t bytes);
/// A size that somebody gave to `option`. InvalidArgument names the limits.
Result<uint64_t> size_within(std::string_view text, std::string_view option,
                             const SizeLimits& limits);
/// The least that a log may be limited to: buffers of the least size fit it, in `fits` of them.
SizeLimits log_limits(uint64_t fits);

}  // namespace tracewell::hooks
