#include "formats/json/scan.h"

#include <algorithm>

namespace tracewell::formats {
namespace {

/// Of the string at the head, quotes included; npos when it does not end.
size_t string_bytes(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

/// Of the object or list at the head; npos when it does not end.
size_t nested_bytes(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const size_t size = string_bytes(text.substr(i));
      if (size == std::string_view::npos) return size;
      i += size - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

char JsonScan::peek() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  return done() ? '\0' : text_[at_];
}

bool JsonScan::skip(char wanted) {
  if (done() || peek() != wanted) return false;
  ++at_;
  return true;
}

std::optional<std::string_view> JsonScan::value(size_t bytes_max) {
  const char first = peek();
  const std::string_view rest = text_.substr(at_, bytes_max);
  size_t size = std::string_view::npos;
  if (first == '"') {
    size = string_bytes(rest);
  } else if (first == '{' || first == '[') {
    size = nested_bytes(rest);
  } else {
    size = rest.find_first_of(",:]}[{\" \t\r\n");
    if (size == std::string_view::npos && rest.size() < bytes_max) size = rest.size();
  }
  if (size == 0 || size == std::string_view::npos) return std::nullopt;
  at_ += size;
  return rest.substr(0, size);
}

}  // namespace tracewell::formats
