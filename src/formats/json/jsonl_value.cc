#include "formats/json/jsonl_value.h"

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"

namespace tracewell::formats::json {
namespace {

constexpr size_t kDepthMax = 64;  // no line of ours needs more
/// A value takes a hundred bytes of memory, and as little as two of text. Who parses a line waits
/// for it, and does not hear signals meanwhile; a catalog or a document has more in proportion.
constexpr size_t kValuesMax = size_t{1} << 20;
constexpr size_t kBytesPerValue = 16;

/// What a tree of the text would cost, before one is built.
class Shape {
 public:
  Status look_at(std::string_view text, size_t values_max) {
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') quoted = !quoted;
      else if (quoted) i += c == '\\';
      else if (!take(c)) return {Errc::Limit, fmt::format("it nests deeper than {}", kDepthMax)};
      if (values_ > values_max)
        return {Errc::Limit, fmt::format("it has more than {} values", values_max)};
    }
    return {};
  }

 private:
  bool take(char c) {
    if (c == '{' || c == '[') {
      if (depth_ == kDepthMax) return false;
      ++depth_;
      ++values_;
    } else if (c == '}' || c == ']') {
      depth_ -= depth_ > 0;
    } else if (c == ',') {
      ++values_;
    }
    return true;
  }

  size_t depth_ = 0, values_ = 1;
};

}  // namespace

Result<Json> parse_line(std::string_view mapped, size_t values_max) {
  // A copy: the file may be written to meanwhile, and be deep only when it is read again.
  const std::string text(mapped);
  TW_RETURN_IF_ERROR(Shape().look_at(text, values_max));
  auto document = build_tree(text);
  if (!document) return {Errc::Corrupt, "not JSON"};
  return *std::move(document);
}

Result<Json> parse_line(std::string_view text) { return parse_line(text, kValuesMax); }

std::optional<Json> parse(std::string_view text) {
  auto document = parse_line(text, kValuesMax + text.size() / kBytesPerValue);
  return document.ok() ? std::optional(*std::move(document)) : std::nullopt;
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
