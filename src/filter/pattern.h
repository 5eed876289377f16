// Pattern: a regular expression, as grep -E and -i take it (pattern_syntax.h).
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Is it anywhere in `text`? In time proportional to its length. What of a longer text stands
  /// behind searched_max() bytes, or `most` if these are fewer, is not looked at.
  bool found_in(std::string_view text, size_t most = SIZE_MAX) const;
  /// Megabytes, but of a pattern with thousands of states, for which each byte of a text may take
  /// so many steps, kilobytes.
  size_t searched_max() const;
  /// States of the engine, 1 at least: so many steps a byte may take, at worst.
  size_t states() const;

 private:
  /// Of bytes below 0x80, and others in UTF-8 as letters of these numbers. Up to `end`; what stands
  /// behind it tells whether a word, or the text, ends there.
  bool found_in_letters(std::string_view text, size_t end) const;

  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tracewell::filter
