// Pattern: a regular expression, as grep -E and -i take it (pattern_syntax.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::filter {

/// A text is bytes, in whatever encoding. Threads may share it.
class Pattern {
 public:
  static constexpr size_t kTextMax = 1024;

  /// InvalidArgument, with the pattern, why it is none or takes too much memory, and what to do.
  static Result<Pattern> compile(const std::string& text);
  /// Is it anywhere in `text`? In time proportional to its length.
  bool found_in(std::string_view text) const;

 private:
  /// Of bytes below 0x80, and others in UTF-8 as letters of these numbers.
  bool found_in_letters(std::string_view text) const;

  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tracewell::filter
