#include "formats/jsonl_value.h"

#include "base/hex.h"
#include "base/text.h"

namespace tracewell::formats::json {
namespace {

/// Nesting beyond what any line of ours needs is refused before a tree is built of it.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > 64) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::optional<Json> parse(std::string_view mapped) {
  // A copy: the file may be written to meanwhile, and be deep only when it is read again.
  const std::string text(mapped);
  if (too_deep(text)) return std::nullopt;
  Json document = Json::parse(text.begin(), text.end(), nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<uint64_t> unsigned_number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_string()) return parse_number(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::optional<int64_t> signed_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    return number <= INT64_MAX ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto number = parse_number(value.get_ref<const std::string&>());
  return number && *number <= INT64_MAX ? std::optional(static_cast<int64_t>(*number))
                                        : std::nullopt;
}

std::optional<bool> boolean(const Json& value) {
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

std::optional<std::string> text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const Json* hex = member(value, "hex");
  if (!hex || !hex->is_string()) return std::nullopt;
  return text_from_hex(hex->get_ref<const std::string&>());
}

std::optional<std::vector<uint8_t>> bytes(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  return from_hex(value.get_ref<const std::string&>());
}

}  // namespace tracewell::formats::json
