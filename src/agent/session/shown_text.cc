#include "agent/session/shown_text.h"

#include <algorithm>

#include "base/text/text.h"

namespace tracewell::agent {

std::string shown_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end));
    if (end == text.size()) break;
    out += text[end];
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace tracewell::agent
