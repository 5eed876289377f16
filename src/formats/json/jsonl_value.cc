#include "formats/json/jsonl_value.h"

#include <utility>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"

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

namespace {

std::optional<uint32_t> small_number(const Json& value) {
  const auto number = unsigned_number(value);
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// Takes members of one object into fields.
class MemberTaker {
 public:
  MemberTaker(const Json& object, const Complain& complain)
      : object_(object), complain_(complain) {}
  template <class Field, class Got>
  void take(const char* key, Field& field, Got&& got_of) const {
    const Json* value = member(object_, key);
    if (!value) return;
    if (auto got = got_of(*value))
      field = *std::move(got);
    else
      complain_(key);
  }

 private:
  const Json& object_;
  const Complain& complain_;
};

}  // namespace

Module module_of(const Json& object, const Complain& complain) {
  const MemberTaker in(object, complain);
  Module out;
  in.take("path", out.path, text);
  in.take("bias", out.bias, unsigned_number);
  in.take("start", out.start, unsigned_number);
  in.take("size", out.size_bytes, unsigned_number);
  in.take("build_id", out.build_id, text);
  in.take("hash", out.hash, unsigned_number);
  return out;
}

Process process_of(const Json& object, const Complain& complain) {
  const MemberTaker in(object, complain);
  Process out;
  in.take("pid", out.pid, small_number);
  in.take("identity", out.id, [](const Json& value) {
    return value.is_string() ? parse_process_id(value.get_ref<const std::string&>()) : std::nullopt;
  });
  in.take("start_ns", out.start_ns, unsigned_number);
  in.take("parent", out.parent, small_number);
  in.take("host", out.host, text);
  in.take("boot", out.boot, text);
  in.take("image", out.image, text);
  return out;
}

}  // namespace tracewell::formats::json
