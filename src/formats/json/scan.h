// Finds its way through JSON text without building it: for documents of any size, of which one
// part at a time is looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tracewell::formats {

/// A cursor over text that should be JSON.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  void set_at(size_t at) { at_ = at; }
  bool done() const { return at_ >= text_.size(); }
  /// The next character that is no blank, which the cursor then stands at; 0 = the end.
  char peek();
  /// Goes behind `wanted` if that comes next.
  bool skip(char wanted);
  /// The text of the value that comes next, which the cursor goes behind. nullopt, and the cursor
  /// stays, when it does not end within `bytes_max`. Only brackets and quotes are looked at.
  std::optional<std::string_view> value(size_t bytes_max);

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tracewell::formats
