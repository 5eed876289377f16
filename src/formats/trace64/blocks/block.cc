#include "formats/trace64/blocks/block.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/settled.h"

namespace tracewell::formats::trace64 {
namespace {

// Most blocks list a few registers and an access or two. How often a loop over them turns, a
// processor guesses wrong every other block, which takes longer than all else that is done for it;
// so up to eight are taken at once. `bytes` has eight that can be read, wherever `roomy` says so.
constexpr uint32_t kFew = 8;
constexpr uint64_t kEachByte = 0x0101010101010101;

/// The first `count` bytes, at most eight, at the upper end; 0 below.
uint64_t first_few(const uint8_t* bytes, uint32_t count) {
  const uint64_t word = load_uint(bytes, kFew, Endian::Little);
  const uint32_t half = 4 * (kFew - count);  // a shift by all 64 bits would not be one
  return word << half << half;
}

inline uint32_t sum_of(const uint8_t* bytes, uint32_t count, bool roomy = false) {
  if (roomy && count <= kFew) {
    const uint64_t word = first_few(bytes, count), odd = 0x00ff00ff00ff00ff;
    return static_cast<uint32_t>(((word & odd) + (word >> 8 & odd)) * 0x0001000100010001 >> 48);
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += bytes[i];
  return sum;
}

uint32_t changed_count(const uint8_t* flags, uint32_t count, bool roomy) {
  if (roomy && count <= kFew)
    return count - static_cast<uint32_t>(
                       (first_few(flags, count) & kEachByte) * kEachByte >> 56);
  uint32_t changed = 0;
  for (uint32_t i = 0; i < count; ++i) changed += (flags[i] & 1) == 0;
  return changed;
}

Reading read_user_block(Bytes file, uint64_t offset, uint8_t type, Block& out) {
  const Bytes rest = file.subspan(offset);
  out = {};
  out.offset = offset;
  out.type = type;
  if (rest.size() < 5) return Reading::Cut;
  const uint64_t size = settled(load_uint(rest.data() + 1, 4, Endian::Little));
  if (size > rest.size() - 5) return Reading::Cut;
  out.size = 5 + size;
  out.user_data = rest.subspan(5, size);
  return Reading::Whole;
}

/// The last register word that the positions name is one of the dump's.
bool positions_fit(const uint8_t* positions, uint32_t count, const Shape& shape,
                   bool roomy = false) {
  return sum_of(positions, count, roomy) + count <= shape.words;
}

}  // namespace

Reading read_block(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid, Block& out) {
  const uint8_t* const start = file.data() + offset;
  const uint64_t left = file.size() - offset;
  const uint8_t type = settled(start[0]);
  if (type >= kUserBlockMin) return read_user_block(file, offset, type, out);
  if (type != 0) return Reading::Bad;
  if (left < 4) return Reading::Cut;
  const uint32_t registers = settled(start[1]);
  const uint32_t memory = settled(start[2]);
  const uint8_t flags = settled(start[3]);
  const uint32_t opcode = flags & 15;
  if (registers > shape.words) return Reading::Bad;
  const bool roomy = left >= kBlockBytesMax;  // no block can reach beyond the end
  const bool has_tid = hidden_tid || (flags & kThreadFlag) != 0;
  const uint64_t positions = 4 + (has_tid ? 4 : 0) + opcode;
  const uint64_t values = positions + registers;
  const uint64_t memory_flags = values + uint64_t{registers} * shape.word;
  const uint64_t addresses = memory_flags + memory;
  if (values <= left && !positions_fit(start + positions, registers, shape, roomy))
    return Reading::Bad;
  if (addresses > left) return Reading::Cut;
  const uint32_t changed = changed_count(start + memory_flags, memory, roomy);
  const uint64_t size = addresses + uint64_t{shape.word} * (2 * memory + changed);
  if (size > left) return Reading::Cut;
  out.offset = offset;
  out.size = size;
  out.type = 0;
  out.flags = flags;
  out.has_tid = has_tid;
  out.tid = has_tid ? static_cast<uint32_t>(load_uint(start + 4, 4, Endian::Little)) : 0;
  out.opcode = {start + positions - opcode, opcode};
  out.register_count = registers;
  out.memory_count = memory;
  out.positions = start + positions;
  out.values = start + values;
  out.memory_flags = start + memory_flags;
  out.addresses = start + addresses;
  out.old_words = out.addresses + memory * shape.word;
  out.new_words = out.old_words + memory * shape.word;
  out.new_count = changed;
  // One by one: a compiler copies what it just cleared in two halves, and waits for them.
  out.user_data = Bytes();
  out.unknown = Bytes();
  out.told = Bytes();
  out.behind_gap = false;
  return Reading::Whole;
}

bool lists_word(const Block& block, uint32_t word) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < block.register_count; ++i, ++at)
    if ((at += block.positions[i]) >= word) return at == word;
  return false;
}

bool has_odd_flags(const Block& block) {
  return (block.flags & 0x70) != 0 ||
         std::any_of(block.memory_flags, block.memory_flags + block.memory_count,
                     [](uint8_t flags) { return flags > 1; });
}

uint64_t plain_block_size(const uint8_t* start, const Shape& shape) {
  const uint32_t registers = settled(start[1]), memory = settled(start[2]),
                 opcode = settled(start[3]);
  // Type 0, no thread id, no reserved bits, of accesses neither.
  if (start[0] != 0 || registers > kFew || memory > kFew || opcode - 1 >= 15) return 0;
  const uint32_t positions = 4 + opcode;
  const uint32_t memory_flags = positions + registers * (1 + shape.word);
  if (!positions_fit(start + positions, registers, shape, true)) return 0;
  const uint64_t flags = first_few(start + memory_flags, memory);
  if ((flags & ~kEachByte) != 0) return 0;
  const auto unchanged = static_cast<uint32_t>(flags * kEachByte >> 56);
  return memory_flags + memory + shape.word * (3 * memory - unchanged);
}

std::string why_bad(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid) {
  const Bytes rest = file.subspan(offset);
  if (rest[0] != 0) return fmt::format("block type {:#04x} is not defined", rest[0]);
  if (rest.size() < 4) return "the file ends";
  if (rest[1] > shape.words)
    return fmt::format("{} register words of {} are listed", rest[1], shape.words);
  const size_t positions = 4u + (hidden_tid || (rest[3] & kThreadFlag) ? 4u : 0u) + (rest[3] & 15u);
  if (positions + rest[1] <= rest.size() &&
      !positions_fit(rest.data() + positions, rest[1], shape))
    return fmt::format("a register word beyond the {} that there are", shape.words);
  return "the file ends";
}

uint32_t sum_of_positions(const Block& block) {
  return sum_of(block.positions, block.register_count);
}

bool is_plausible(const Block& block, const Shape& shape) {
  if (block.is_user()) return true;
  return !has_odd_flags(block) && (!block.is_full(shape) || sum_of_positions(block) == 0);
}

}  // namespace tracewell::formats::trace64
