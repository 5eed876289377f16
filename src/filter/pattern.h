// Pattern: a regular expression, as grep -E and -i take it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::filter {

/// Threads may share it.
class Pattern {
 public:
  static constexpr size_t kTextMax = 1024;

  /// InvalidArgument, with what the library says of it.
  static Result<Pattern> compile(const std::string& text);
  /// Is it anywhere in `text`?
  bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tracewell::filter
