#include "base/xml.h"

#include <cstdint>

namespace tracewell {
namespace {

/// Length in bytes of the character at the head of `text` that XML 1.0 can hold, 0 if it cannot.
size_t xml_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || length > text.size()) return 0;
  uint32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool noncharacter = code == 0xfffe || code == 0xffff;
  return code < kSmallest[length] || code > 0x10ffff || surrogate || noncharacter ? 0 : length;
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = xml_character(text);
    switch (length == 0 ? '\0' : text[0]) {
      case '\0': out += "\xef\xbf\xbd"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      // As they are, a parser would turn these into spaces inside an attribute.
      case '\t': out += "&#9;"; break;
      case '\n': out += "&#10;"; break;
      case '\r': out += "&#13;"; break;
      default: out += text.substr(0, length); break;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace tracewell
