// Why instructions are missing at one place of a trace, where several events in a row say so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/steps/steps_only.h"

namespace tracewell::formats::trace64 {

class Reasons {
 public:
  /// The first one, whatever its length, and of those behind it what fits; each once. `left_out`
  /// counts the others.
  void add(std::string_view why, StepsOnly& left_out);
  std::string text() const;

 private:
  static constexpr size_t kBytesMax = 1024;
  std::vector<std::string> said_;  // few: each has a byte at least
  size_t bytes_ = 0;
};

}  // namespace tracewell::formats::trace64
