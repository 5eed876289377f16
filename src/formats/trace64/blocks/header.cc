#include "formats/trace64/blocks/header.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/json/jsonl_value.h"

namespace tracewell::formats::trace64 {
namespace {

using json::Json;

constexpr uint64_t kJsonAt = 8;

Error bad(uint64_t offset, std::string text) {
  return Error{Errc::Corrupt, "the header: " + std::move(text), offset};
}

/// Without what stands behind it. A NUL is allowed there: the specification says that there "might"
/// be one, and nothing of what may follow it. (JSON has no NUL in it.)
std::string_view up_to_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

/// The text as JSON; an error has the place.
Result<Json> parse(std::string_view text) {
  text = up_to_nul(text);
  if (auto document = json::parse(text)) {
    if (document->is_object()) return *std::move(document);
    return bad(kJsonAt, fmt::format("its JSON is no object but {}", document->type_name()));
  }
  // Once more, only to learn where it went wrong.
  struct Place : nlohmann::json_sax<Json> {
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return ++depth < 64; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return --depth, true; }
    bool start_array(std::size_t) override { return ++depth < 64; }
    bool end_array() override { return --depth, true; }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
      at = position;
      return false;
    }
    std::size_t at = 0;
    int depth = 0;
  } place;
  Json::sax_parse(text, &place);
  return bad(kJsonAt + std::min<uint64_t>(place.at, text.size()),
             text.empty() ? "it is empty" : "it is not JSON");
}

void note(ProblemLog& problems, std::string text) {
  problems.add({kJsonAt, Problem::Severity::Note, "odd-header", std::move(text)});
}

Status read_version(const Json& object) {
  const Json* version = json::member(object, "ver");
  if (!version) return bad(kJsonAt, "there is no \"ver\"");
  if (version->is_number() && version->get<double>() == 1.0) return {};
  return Error{Errc::Unsupported,
               fmt::format("version {} of the format is not known, only 1 is",
                           printable(version->dump(-1, ' ', true, Json::error_handler_t::replace))),
               kJsonAt};
}

Status read_compression(const Json& object, ProblemLog& problems) {
  const Json* compression = json::member(object, "compression");
  if (!compression) {
    problems.add({kJsonAt, Problem::Severity::Warning, "no-compression",
                  "the header has no \"compression\"; x64dbg does not open such a file"});
    return {};
  }
  const std::string name = json::text(*compression).value_or("?");
  if (name.empty()) return {};
  return Error{Errc::Unsupported,
               fmt::format("the blocks are compressed with \"{}\", which is not supported",
                           printable(name)),
               kJsonAt};
}

Status read_architecture(const Json& object, ProblemLog& problems, Header& header) {
  const Json* arch = json::member(object, "arch");
  if (!arch) {
    problems.add({kJsonAt, Problem::Severity::Warning, "no-architecture",
                  "the header has no \"arch\"; the first full dump tells"});
    return {};
  }
  const std::string name = json::text(*arch).value_or("?");
  if (name != "x64" && name != "x86")
    return Error{Errc::Unsupported,
                 fmt::format("the architecture \"{}\" is neither x64 nor x86", printable(name)),
                 kJsonAt};
  header.wide = name == "x64";
  return {};
}

std::optional<uint64_t> hash_of(const Json& object) {
  const Json* hash = json::member(object, "hash");
  if (!hash || !hash->is_string()) return std::nullopt;
  const auto& text = hash->get_ref<const std::string&>();
  return text.starts_with("0x") ? parse_hex(std::string_view(text).substr(2)) : std::nullopt;
}

std::string text_of(const Json& object, const char* key) {
  const Json* value = json::member(object, key);
  return value ? json::text(*value).value_or("") : "";
}

}  // namespace

Result<Header> read_header(Bytes file, ProblemLog& problems) {
  if (file.empty()) return Error{Errc::Truncated, "the file is empty", 0};
  if (!as_text(file).starts_with(kMagic))
    return Error{Errc::Unsupported, "not a trace: it does not begin with TRAC", 0};
  if (file.size() < kJsonAt) return Error{Errc::Truncated, "the file ends in its header", 4};
  const uint64_t length = load_uint(file.data() + 4, 4, Endian::Little);
  if (length > file.size() - kJsonAt)
    return Error{Errc::Truncated,
                 fmt::format("the header is to be {} bytes long, and the file is {}", length,
                             file.size()),
                 4};
  if (length > kHeaderJsonMax)
    return Error{Errc::Limit,
                 fmt::format("the header is {} bytes long, {} are allowed", length, kHeaderJsonMax),
                 4};
  Header header;
  header.json = as_text(file.subspan(kJsonAt, length));
  header.blocks_at = kJsonAt + length;
  TW_ASSIGN_OR_RETURN(const Json object, parse(header.json));
  TW_RETURN_IF_ERROR(read_version(object));
  TW_RETURN_IF_ERROR(read_architecture(object, problems, header));
  TW_RETURN_IF_ERROR(read_compression(object, problems));
  header.hash = hash_of(object);
  if (json::member(object, "hash") && !header.hash)
    note(problems, "the \"hash\" is not 0x and up to 16 hex digits; it is not known");
  header.path = text_of(object, "path");
  const std::string_view behind =
      std::string_view(header.json).substr(up_to_nul(header.json).size());
  if (behind.find_first_not_of('\0') != std::string_view::npos)
    problems.add({kJsonAt + header.json.size() - behind.size(), Problem::Severity::Warning,
                  "odd-header",
                  fmt::format("{} bytes stand behind the header's JSON and are not zero; ignored",
                              behind.size())});
  if (length > kOldHeaderJsonMax)
    note(problems, "x64dbg before November 2025 opens no header larger than 16384 bytes");
  return header;
}

std::string wrap_header(std::string_view json) {
  std::string out(kMagic);
  for (int shift = 0; shift < 32; shift += 8)
    out += static_cast<char>(static_cast<uint32_t>(json.size()) >> shift);
  return out.append(json);
}

std::string render_header(bool wide, std::optional<uint64_t> hash, std::string_view path) {
  Json object;
  object["ver"] = 1;
  object["arch"] = wide ? "x64" : "x86";
  if (hash) {
    object["hashAlgorithm"] = "murmurhash";
    object["hash"] = fmt::format("0x{:X}", *hash);
  }
  object["compression"] = "";
  if (!path.empty()) object["path"] = path;
  return wrap_header(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string complete_header(std::string_view json, std::optional<uint64_t> hash,
                            std::string_view path) {
  auto object = parse(json);
  if (!object.ok()) return wrap_header(json);
  const bool add_hash = hash && !json::member(*object, "hash");
  const bool add_path = !path.empty() && text_of(*object, "path").empty();
  if (!add_hash && !add_path) return wrap_header(json);
  if (add_hash) {
    (*object)["hashAlgorithm"] = "murmurhash";
    (*object)["hash"] = fmt::format("0x{:X}", *hash);
  }
  if (add_path) (*object)["path"] = path;
  return wrap_header(object->dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string plain_header(std::string_view json, bool wide) {
  const auto object = parse(json);
  if (!object.ok()) return render_header(wide, std::nullopt, "");
  std::string path = text_of(*object, "path");
  if (path.size() > kOldHeaderJsonMax / 8) path.clear();
  return render_header(wide, hash_of(*object), path);
}

std::vector<std::string> keys_not_in(std::string_view header, std::string_view json) {
  std::vector<std::string> out;
  const auto before = parse(json), after = parse(header.substr(kJsonAt));
  if (!before.ok() || !after.ok()) return out;
  for (const auto& one : before->items())
    if (!after->contains(one.key())) out.push_back(one.key());
  return out;
}

}  // namespace tracewell::formats::trace64
