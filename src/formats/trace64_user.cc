#include "formats/trace64_user.h"

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
