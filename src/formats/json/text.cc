#include "formats/json/text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/message.h"

namespace tracewell::formats {
namespace {

/// Length of the well-formed UTF-8 sequence at the head of `text` (surrogates and overlong forms
/// are none), 0 if there is none.
size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >> 4 == 14           ? 3
                        : lead >> 3 == 30           ? 4
                                                    : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) >= 0xa0) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead > 0xf4 || (lead == 0xf4 && byte(1) >= 0x90)) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  if (!is_utf8(text)) {
    out += "{\"hex\":\"";
    append_hex(out, as_bytes(text));
    out += "\"}";
    return;
  }
  const size_t begin = out.size();
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
        else
          out += c;
    }
  }
  out += '"';
  const std::string_view quoted = std::string_view(out).substr(begin);
  if (printable_length(quoted) == quoted.size()) return;
  const std::string whole(quoted);
  out.resize(begin);
  append_plain_json(out, whole);
}

std::string register_value_hex(Bytes value, Endian endian) {
  if (value.size() <= 8) return fmt::format("{:#x}", load_uint(value.data(), value.size(), endian));
  std::vector<uint8_t> bytes(value.begin(), value.end());
  if (endian == Endian::Little) std::reverse(bytes.begin(), bytes.end());
  const std::string digits = to_hex(Bytes(bytes));
  const size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return "0x" + digits.substr(first);
}

}  // namespace tracewell::formats
