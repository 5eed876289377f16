#include "base/text.h"

#include <charconv>

#include <fmt/format.h>

namespace tracewell {
namespace {

/// Length of the well-formed UTF-8 sequence at the head of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  size_t length = 0;
  if (lead < 0x80) length = 1;
  else if (lead >> 5 == 6) length = 2;
  else if (lead >> 4 == 14) length = 3;
  else if (lead >> 3 == 30) length = 4;
  if (length == 0 || length > text.size() || lead == 0xc0 || lead == 0xc1) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string_view take_until(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto byte = static_cast<uint8_t>(text[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace tracewell
