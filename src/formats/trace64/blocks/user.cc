#include "formats/trace64/blocks/user.h"

#include <charconv>

#include <fmt/format.h>

namespace tracewell::formats::trace64 {
namespace {

constexpr size_t kOwnHeadBytes = kOwnSignature.size() + 2;

}  // namespace

std::optional<OwnBlock> read_own_block(uint8_t type, Bytes user_data) {
  if (type != kOwnBlockType || user_data.size() < kOwnHeadBytes) return std::nullopt;
  if (!as_text(user_data).starts_with(kOwnSignature)) return std::nullopt;
  const uint8_t version = user_data[kOwnSignature.size()];
  const uint8_t kind = user_data[kOwnSignature.size() + 1];
  if (version != kOwnVersion || kind < 1 || kind > kOwnKindMax) return std::nullopt;
  return OwnBlock{static_cast<OwnKind>(kind), user_data.subspan(kOwnHeadBytes)};
}

std::string unknown_own_block(uint8_t type, Bytes user_data) {
  const bool has_head = type == kOwnBlockType && user_data.size() >= kOwnHeadBytes &&
                        as_text(user_data).starts_with(kOwnSignature);
  if (!has_head || read_own_block(type, user_data)) return "";
  const uint8_t version = user_data[kOwnSignature.size()];
  const uint8_t kind = user_data[kOwnSignature.size() + 1];
  return fmt::format("a user block of Tracewell's of version {}, kind {}, which this release does "
                     "not know; what it says does not count",
                     version, kind);
}

namespace {

/// Of "7: why": behind the colon and the blank; 0: it does not begin with a number.
size_t count_bytes(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const bool fits = digits != 0 && digits != text.npos && digits < 20;
  return fits && text.substr(digits).starts_with(": ") ? digits + 2 : 0;
}

}  // namespace

std::string missing_text(uint64_t count, std::string_view why) {
  if (count == 0 && count_bytes(why) == 0) return std::string(why);
  return fmt::format("{}: {}", count, why);
}

uint64_t take_missing_count(std::string_view& text) {
  const size_t size = count_bytes(text);
  if (size == 0) return 0;
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + size, count);  // of 19 digits at most
  text.remove_prefix(size);
  return count;
}

void append_own_block(std::vector<uint8_t>& out, OwnKind kind, Bytes data) {
  ByteWriter writer(out, Endian::Little);
  writer.uint(kOwnBlockType, 1);
  writer.uint(kOwnHeadBytes + data.size(), 4);
  writer.bytes(as_bytes(kOwnSignature));
  writer.uint(kOwnVersion, 1);
  writer.uint(static_cast<uint8_t>(kind), 1);
  writer.bytes(data);
}

}  // namespace tracewell::formats::trace64
