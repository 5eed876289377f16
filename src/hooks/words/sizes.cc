#include "hooks/words/sizes.h"

#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/components/components.h"
#include "hooks/session/session.h"

namespace tracewell::hooks {

std::optional<uint64_t> size_in_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "kmg";
  unsigned shift = 0;
  if (!text.empty()) {
    const size_t unit = kUnits.find(static_cast<char>(text.back() | 0x20));
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<unsigned>(unit + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number(text);
  if (!number || *number > std::numeric_limits<uint64_t>::max() >> shift) return std::nullopt;
  return *number << shift;
}

const SizeLimits kBufferLimits{kBufferBytesMin, kBufferBytesMax};
const SizeLimits kComponentBufferLimits{kComponentBufferMin, kComponentBufferMax};

SizeLimits log_limits(uint64_t fits) {
  // An offset of a file has a sign.
  return {fits * kBufferBytesMin, uint64_t{1} << 62};
}

std::string size_text(uint64_t bytes) {
  constexpr std::string_view kUnits = "gmk";
  for (size_t i = 0; i < kUnits.size(); ++i) {
    const size_t shift = 10 * (kUnits.size() - i);
    if (bytes >> shift != 0 && bytes >> shift << shift == bytes)
      return fmt::format("{}{}", bytes >> shift, kUnits[i]);
  }
  return fmt::format("{}", bytes);
}

Result<uint64_t> size_within(std::string_view text, std::string_view option,
                             const SizeLimits& limits) {
  const auto size = size_in_bytes(text);
  if (!size)
    return {Errc::InvalidArgument,
            fmt::format("{}: '{}' is no size, as 65536, 64k, 2m or 1g are", option,
                        printable(text))};
  if (*size >= limits.least && *size <= limits.most) return *size;
  return {Errc::InvalidArgument,
          fmt::format("{}: {} is too {}: {} to {}", option, printable(text),
                      *size < limits.least ? "small" : "large", size_text(limits.least),
                      size_text(limits.most))};
}

}  // namespace tracewell::hooks
