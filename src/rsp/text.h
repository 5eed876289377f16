// TextReader: a cursor over the body of a packet or over a line of a trace file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracewell::rsp {

/// Borrows the text. What fails (false, nullopt) leaves the cursor where it was.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  /// Characters read so far.
  size_t offset() const { return at_; }
  /// The next character, 0 at the end.
  char peek() const { return done() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }

  bool skip(char c);
  bool skip(std::string_view literal);
  /// Exactly `count` characters.
  std::optional<std::string_view> take(size_t count);
  /// What stands before `separator`, which is skipped too; without one, all the rest.
  std::string_view take_until(char separator);
  /// The longest run of hex digits, possibly empty.
  std::string_view take_hex_digits();
  std::string_view take_rest();

  /// The longest run of hex digits: one or more that fit 64 bits (leading zeros are free).
  std::optional<uint64_t> hex();
  /// hex() that fits 32 bits.
  std::optional<uint32_t> hex32();
  /// hex(), then `end`, which is skipped.
  std::optional<uint64_t> hex_until(char end);
  /// The protocol's `-1` beside plain numbers: an optional `-`, then at most 0x7fff…f.
  std::optional<int64_t> signed_hex();
  /// `<hex length>,<two digits a byte>`, as behind the `X` of an agent expression. nullopt as well
  /// when there are fewer digits than the length says.
  std::optional<std::vector<uint8_t>> sized_hex_bytes();

 private:
  std::string_view text_;
  size_t at_ = 0;
};

/// Minimal lower-case digits; "0" for 0.
std::string hex_number(uint64_t value);
/// At least `digits` lower-case digits, zero padded.
std::string hex_number(uint64_t value, int digits);

}  // namespace tracewell::rsp
