#include "rsp/text.h"

#include <limits>

#include <fmt/format.h>

#include "base/text/hex.h"

namespace tracewell::rsp {

bool TextReader::skip(char c) {
  if (done() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool TextReader::skip(std::string_view literal) {
  if (!rest().starts_with(literal)) return false;
  at_ += literal.size();
  return true;
}

std::optional<std::string_view> TextReader::take(size_t count) {
  if (count > text_.size() - at_) return std::nullopt;
  at_ += count;
  return text_.substr(at_ - count, count);
}

std::string_view TextReader::take_until(char separator) {
  const size_t found = text_.find(separator, at_);
  if (found == std::string_view::npos) return take_rest();
  const std::string_view head = text_.substr(at_, found - at_);
  at_ = found + 1;
  return head;
}

std::string_view TextReader::take_hex_digits() {
  const size_t from = at_;
  while (!done() && hex_digit(text_[at_]) >= 0) ++at_;
  return text_.substr(from, at_ - from);
}

std::string_view TextReader::take_rest() {
  const std::string_view all = rest();
  at_ = text_.size();
  return all;
}

std::optional<uint64_t> TextReader::hex() {
  const size_t from = at_;
  const auto value = parse_hex(take_hex_digits());
  if (!value) at_ = from;
  return value;
}

std::optional<uint32_t> TextReader::hex32() {
  const size_t from = at_;
  const auto value = hex();
  if (value && *value <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(*value);
  at_ = from;
  return std::nullopt;
}

std::optional<uint64_t> TextReader::hex_until(char end) {
  const size_t from = at_;
  const auto value = hex();
  if (value && skip(end)) return value;
  at_ = from;
  return std::nullopt;
}

std::optional<int64_t> TextReader::signed_hex() {
  const size_t from = at_;
  const bool negative = skip('-');
  const auto value = hex();
  if (value && *value <= uint64_t{std::numeric_limits<int64_t>::max()})
    return negative ? -static_cast<int64_t>(*value) : static_cast<int64_t>(*value);
  at_ = from;
  return std::nullopt;
}

std::optional<std::vector<uint8_t>> TextReader::sized_hex_bytes() {
  const size_t from = at_;
  const auto length = hex_until(',');
  if (length && *length <= rest().size() / 2) {
    auto bytes = from_hex(rest().substr(0, 2 * *length));
    if (bytes) {
      at_ += 2 * *length;
      return bytes;
    }
  }
  at_ = from;
  return std::nullopt;
}

std::string hex_number(uint64_t value) { return fmt::format("{:x}", value); }

std::string hex_number(uint64_t value, int digits) {
  return fmt::format("{:0{}x}", value, digits);
}

}  // namespace tracewell::rsp
