#include "base/text/xml.h"

#include "base/text/text.h"

namespace tracewell {

std::string escape_xml(std::string_view text) {
  constexpr std::string_view kNoCharacters[] = {"\xef\xbf\xbe", "\xef\xbf\xbf"};
  const std::string shown = printable(text);
  std::string out;
  out.reserve(shown.size());
  for (size_t at = 0; at < shown.size(); ++at) {
    const std::string_view rest = std::string_view(shown).substr(at);
    switch (shown[at]) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      case '\xef':
        if (rest.starts_with(kNoCharacters[0]) || rest.starts_with(kNoCharacters[1])) {
          out += "\xef\xbf\xbd";
          at += 2;
          break;
        }
        [[fallthrough]];
      default: out += shown[at]; break;
    }
  }
  return out;
}

std::string plain_xml(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (size_t at = 0; at < document.size(); ++at) {
    const char c = document[at];
    const bool is_blank = c == '\t' || c == '\n' || c == '\r';
    out += (c >= 0x20 && c < 0x7f) || is_blank ? c : '_';  // which names may have, too
    // `&#155;` becomes that text, also where it is the text of an entity.
    if (c == '&' && document.substr(at + 1).starts_with('#')) out += "amp;";
  }
  return out;
}

}  // namespace tracewell
