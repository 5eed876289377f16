// Numbers of things, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tracewell {

/// "1 step", "2 steps".
inline std::string counted(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// What is counted beside records, because `print` numbers it: " (and 3 marks)", or nothing.
inline std::string and_marks(uint64_t marks) {
  return marks == 0 ? std::string() : fmt::format(" (and {})", counted(marks, "mark"));
}

}  // namespace tracewell
