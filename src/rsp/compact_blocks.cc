#include "rsp/compact_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tracewell::rsp {
namespace {

constexpr size_t kWord = 8;
constexpr size_t kRegisterBytesMax = 1 << 20;
constexpr uint8_t kCompact = 'r';

struct Registers {
  explicit Registers(uint32_t bytes)
      : bytes(bytes), words((bytes + kWord - 1) / kWord), map_bytes((words + 7) / 8) {}
  size_t bytes_of(size_t word) const { return std::min(kWord, bytes - word * kWord); }
  size_t bytes, words, map_bytes;
};

/// Of a block of any other kind, 0 where that is unknown or the block is cut. `in` is not empty.
size_t block_bytes(Bytes in, Endian endian) {
  constexpr size_t kMemoryHead = 11, kVariable = 13, kStaticHead = 3;
  size_t bytes = 0;
  if (in[0] == 'V') bytes = kVariable;
  else if (in[0] == 'M' && in.size() >= kMemoryHead)
    bytes = kMemoryHead + load_uint(&in[kMemoryHead - 2], 2, endian);
  else if (in[0] == 'S' && in.size() >= kStaticHead)
    bytes = kStaticHead + load_uint(&in[1], 2, endian);
  return bytes <= in.size() ? bytes : 0;
}

void compact_registers(const uint8_t* from, const Registers& all, std::vector<uint8_t>& out) {
  out.push_back(kCompact);
  const size_t map = out.size();
  out.resize(map + all.map_bytes + all.bytes);
  size_t to = map + all.map_bytes;
  for (size_t word = 0; word < all.words; ++word) {
    const size_t bytes = all.bytes_of(word);
    uint64_t value = 0;
    std::memcpy(&value, from + word * kWord, bytes);
    if (value == 0) continue;
    out[map + word / 8] |= static_cast<uint8_t>(1u << word % 8);
    std::memcpy(&out[to], &value, bytes);
    to += bytes;
  }
  out.resize(to);
}

/// How many bytes of `in`, which begins behind the letter; nullopt: it is cut.
std::optional<size_t> compact_size(Bytes in, const Registers& all) {
  if (in.size() < all.map_bytes) return std::nullopt;
  size_t words = 0;
  for (size_t i = 0; i < all.map_bytes; ++i)
    words += static_cast<size_t>(std::popcount(in[i]));
  size_t bytes = all.map_bytes + words * kWord;
  const size_t last = all.words - 1;
  if (all.words != 0 && (in[last / 8] >> last % 8 & 1) != 0) bytes -= kWord - all.bytes_of(last);
  return bytes <= in.size() ? std::optional(bytes) : std::nullopt;
}

void expand_registers(Bytes in, const Registers& all, std::vector<uint8_t>& out) {
  out.push_back('R');
  const size_t begin = out.size();
  out.resize(begin + all.bytes);
  size_t from = all.map_bytes;
  for (size_t word = 0; word < all.words; ++word) {
    if ((in[word / 8] >> word % 8 & 1) == 0) continue;
    const size_t bytes = std::min(all.bytes_of(word), in.size() - from);
    std::memcpy(&out[begin + word * kWord], &in[from], bytes);
    from += bytes;
  }
}

}  // namespace

bool compact_blocks(Bytes data, uint32_t register_block_bytes, Endian endian,
                    std::vector<uint8_t>& out) {
  const Registers all(register_block_bytes);
  bool any = false;
  while (!data.empty()) {
    const bool is_registers = data[0] == 'R' && data.size() > all.bytes;
    const size_t bytes = is_registers ? 1 + all.bytes : block_bytes(data, endian);
    if (is_registers) compact_registers(&data[1], all, out);
    const size_t as_is = is_registers ? 0 : bytes != 0 ? bytes : data.size();
    out.insert(out.end(), data.begin(), data.begin() + static_cast<ptrdiff_t>(as_is));
    any = any || is_registers;
    data = data.subspan(std::max(bytes, as_is));
  }
  return any;
}

Status expand_blocks(Bytes compact, uint32_t register_block_bytes, Endian endian,
                     std::vector<uint8_t>& out) {
  const Registers all(register_block_bytes);
  bool any = false;
  for (size_t at = 0; at < compact.size();) {
    const Bytes rest = compact.subspan(at);
    const uint8_t type = rest[0];
    // A frame has its registers once; from outside, each might become much.
    if (type == kCompact && (std::exchange(any, true) || all.bytes > kRegisterBytesMax))
      return Error{Errc::Corrupt, "registers again, or too many of them", at};
    const auto registers = type == kCompact ? compact_size(rest.subspan(1), all) : std::nullopt;
    const size_t other = type == kCompact ? 0 : block_bytes(rest, endian);
    if (!registers && other == 0) {
      const bool known = type == kCompact || type == 'M' || type == 'V' || type == 'S';
      if (known)
        return Error{Errc::Truncated, fmt::format("'{}' block is cut", static_cast<char>(type)),
                     at};
      return Error{Errc::Corrupt, fmt::format("unknown block type 0x{:02x}", type), at};
    }
    if (registers) expand_registers(rest.subspan(1, *registers), all, out);
    else out.insert(out.end(), rest.begin(), rest.begin() + static_cast<ptrdiff_t>(other));
    at += registers ? 1 + *registers : other;
  }
  return {};
}

uint64_t expanded_bytes(Bytes compact, uint32_t register_block_bytes, Endian endian) {
  const Registers all(register_block_bytes);
  uint64_t sum = 0;
  while (!compact.empty()) {
    const bool is_registers = compact[0] == kCompact;
    const auto registers = is_registers ? compact_size(compact.subspan(1), all) : std::nullopt;
    const size_t other = is_registers ? 0 : block_bytes(compact, endian);
    if (!registers && other == 0) break;
    sum += registers ? 1 + all.bytes : other;
    compact = compact.subspan(registers ? 1 + *registers : other);
  }
  return sum;
}

}  // namespace tracewell::rsp
