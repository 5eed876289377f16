#include "formats/trace64_block.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tracewell::formats::trace64 {
namespace {

constexpr uint32_t kLookAhead = 6;  // blocks
// A few bytes that are no such thing easily look like one, whose size then is any number.
constexpr uint64_t kLargeUserBlock = 1 << 20;

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

Reading read_user_block(Bytes file, uint64_t offset, Block& out) {
  const Bytes rest = file.subspan(offset);
  out = {};
  out.offset = offset;
  out.type = rest[0];
  if (rest.size() < 5) return Reading::Cut;
  const uint64_t size = load_uint(rest.data() + 1, 4, Endian::Little);
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

/// A guess at what begins somewhere.
struct Look {
  Bytes file;
  const Shape& shape;
  bool plausible = true;  // blocks are to be that, and not only whole
  bool skips = false;     // becomes true where it goes past a user block that is large

  /// For how many blocks a reading of the file makes sense, up to `most`; the end of the file,
  /// where a block ends, counts as all of them. Behind flagged blocks, and of full dumps, either
  /// reading will do.
  uint32_t lasting(uint64_t offset, bool hidden_tid, uint32_t most) {
    if (most == 0 || offset == file.size()) return most;
    Block block;
    if (read_block(file, offset, shape, hidden_tid, block) != Reading::Whole) return 0;
    if (plausible && !is_plausible(block, shape)) return 0;
    const uint64_t next = offset + block.size;
    skips |= block.is_user() && block.size >= kLargeUserBlock;
    const uint32_t plain = lasting(next, false, most - 1);
    const bool bare_dump =
        next + 1 < file.size() && file[next] == 0 && file[next + 1] == shape.words;
    const bool either = block.is_flagged() || block.is_full(shape) || bare_dump;
    if (plain + 1 == most || !either) return plain + 1;
    return 1 + std::max(plain, lasting(next, true, most - 1));
  }
};

bool lists_pc(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid) {
  Block block;
  if (read_block(file, offset, shape, hidden_tid, block) != Reading::Whole) return false;
  return lists_word(block, shape.pc_word);
}

}  // namespace

Reading read_block(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid, Block& out) {
  const uint8_t* const start = file.data() + offset;
  const uint64_t left = file.size() - offset;
  if (start[0] >= kUserBlockMin) return read_user_block(file, offset, out);
  if (start[0] != 0) return Reading::Bad;
  if (left < 4) return Reading::Cut;
  const uint32_t registers = start[1];
  const uint32_t memory = start[2];
  const uint8_t flags = start[3];
  const uint32_t opcode = flags & 15;
  if (registers > shape.words || memory > kMemoryMax || opcode == 0) return Reading::Bad;
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
  return Reading::Whole;
}

bool lists_word(const Block& block, uint32_t word) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < block.register_count; ++i, ++at)
    if ((at += block.positions[i]) >= word) return at == word;
  return false;
}

uint64_t plain_block_size(const uint8_t* start, const Shape& shape) {
  const uint32_t registers = start[1], memory = start[2], opcode = start[3];
  // Type 0, no thread id, no reserved bits.
  if (start[0] != 0 || registers > kFew || memory > kFew || opcode - 1 >= 15) return 0;
  const uint32_t positions = 4 + opcode;
  const uint32_t memory_flags = positions + registers * (1 + shape.word);
  if (!positions_fit(start + positions, registers, shape, true)) return 0;
  const uint32_t changed = changed_count(start + memory_flags, memory, true);
  return memory_flags + memory + shape.word * (2 * memory + changed);
}

std::string why_bad(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid) {
  const Bytes rest = file.subspan(offset);
  if (rest[0] != 0) return fmt::format("block type {:#04x} is not defined", rest[0]);
  if (rest.size() < 4) return "the file ends";
  if (rest[1] > shape.words)
    return fmt::format("{} register words of {} are listed", rest[1], shape.words);
  if (rest[2] > kMemoryMax) return fmt::format("{} memory entries, of 32 at most", rest[2]);
  if ((rest[3] & 15) == 0) return "an opcode of no bytes";
  const size_t positions = 4u + (hidden_tid || (rest[3] & kThreadFlag) ? 4u : 0u) + (rest[3] & 15u);
  if (positions + rest[1] <= rest.size() &&
      !positions_fit(rest.data() + positions, rest[1], shape))
    return fmt::format("a register word beyond the {} that there are", shape.words);
  return "the file ends";
}

bool is_plausible(const Block& block, const Shape& shape) {
  if (block.is_user()) return true;
  if ((block.flags & 0x70) != 0) return false;
  if (block.is_full(shape) && sum_of(block.positions, block.register_count) != 0) return false;
  for (uint32_t i = 0; i < block.memory_count; ++i)
    if (block.memory_flags[i] > 1) return false;
  return true;
}

HiddenTid find_hidden_tid(Bytes file, uint64_t offset, const Shape& shape, uint32_t tid,
                          bool announced) {
  const auto decided = [](bool hidden) { return hidden ? HiddenTid::Yes : HiddenTid::No; };
  Block block;
  const Reading reading = read_block(file, offset, shape, true, block);
  // Whatever else its rest may look like.
  if (announced && reading == Reading::Cut) return HiddenTid::Yes;
  Look as_plain{file, shape}, as_hidden{file, shape};
  const uint32_t plain = as_plain.lasting(offset, false, kLookAhead);
  const uint32_t hidden = as_hidden.lasting(offset, true, kLookAhead);
  if (plain != hidden) {
    // A reserved bit alone is no reason to read everything otherwise.
    const uint32_t whole_plain = Look{file, shape, false}.lasting(offset, false, kLookAhead);
    const uint32_t whole_hidden = Look{file, shape, false}.lasting(offset, true, kLookAhead);
    return decided(whole_plain == whole_hidden ? hidden > plain : whole_hidden > whole_plain);
  }
  if (as_hidden.skips && !as_plain.skips) return HiddenTid::No;
  if (hidden == 0 || announced) return decided(hidden != 0);
  // Nearly every instruction moves the program counter.
  const bool plain_pc = lists_pc(file, offset, shape, false);
  if (plain_pc != lists_pc(file, offset, shape, true)) return decided(!plain_pc);
  // No thread goes on with the very registers of another one.
  if (block.register_count == 0) return HiddenTid::Unclear;
  // Windows counts thread ids in fours, and there is no other reason for an id than a switch.
  const auto id = static_cast<uint32_t>(load_uint(file.data() + offset + 4, 4, Endian::Little));
  if (!plain_pc && id != tid && id % 4 == 0 && id != 0 && id < (1u << 20)) return HiddenTid::Yes;
  return HiddenTid::Unclear;
}

bool goes_on(Bytes file, uint64_t offset, const Shape& shape) {
  return Look{file, shape, false}.lasting(offset, false, kLookAhead) == kLookAhead;
}

namespace {

enum class DumpSign : uint8_t { None, Alone, Sure };

/// Is there a full dump at `start`? Sure: plausible blocks or the end of the file follow it.
DumpSign look_for_dump(Bytes file, uint64_t start, const Shape& shape, uint64_t& end) {
  DumpSign best = DumpSign::None;
  if (file[start] != 0 || start + 4 > file.size() || file[start + 1] != shape.words) return best;
  for (const bool hidden : {false, true}) {
    if (hidden && (file[start + 3] & kThreadFlag) != 0) continue;
    Block block;
    if (read_block(file, start, shape, hidden, block) != Reading::Whole ||
        !is_plausible(block, shape))
      continue;
    const uint64_t next = start + block.size;
    Look look{file, shape};
    if (look.lasting(next, false, 2) > 0 || look.lasting(next, true, 2) == 2)
      return DumpSign::Sure;
    if (best != DumpSign::None || !block.is_flagged()) continue;
    best = DumpSign::Alone;
    end = next;
  }
  return best;
}

}  // namespace

std::optional<uint64_t> find_full_dump(Bytes file, uint64_t from, const Shape& shape) {
  // The positions of a full dump are a run of zeros, longer than twice this; so one of these
  // places is inside it.
  constexpr uint64_t kStride = 64;
  uint64_t tried_to = from;  // starts below this were looked at
  std::optional<uint64_t> alone;
  uint64_t alone_end = 0;
  for (uint64_t at = from + kStride; at + 8 <= file.size(); at += kStride) {
    uint64_t word;
    std::memcpy(&word, file.data() + at, 8);
    if (word != 0) continue;
    const uint64_t first = std::max(tried_to, at > from + kStride + 32 ? at - kStride - 32 : from);
    for (uint64_t start = first; start <= at; ++start) {
      tried_to = start + 1;
      // One that damage follows is one nevertheless, unless another begins inside of it.
      if (alone && start >= alone_end) return alone;
      uint64_t end = 0;
      const DumpSign sign = look_for_dump(file, start, shape, end);
      if (sign == DumpSign::Sure) return start;
      if (sign == DumpSign::None || alone) continue;
      alone = start;
      alone_end = end;
    }
  }
  return alone;
}

}  // namespace tracewell::formats::trace64
