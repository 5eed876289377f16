#include "formats/trace64/read/walk.h"

#include <algorithm>
#include <cstring>

#include "base/settled.h"

namespace tracewell::formats::trace64 {
namespace {

/// `Word`: uint64_t or uint32_t. All that a block can have is inside the file up to `safe_to`.
template <class Word>
void walk(const uint8_t* file, const Shape& shape, uint64_t safe_to, uint64_t to,
          BlockPlace& place, WordState& state) {
  uint8_t* const dump = state.dump.data();
  const uint32_t words = shape.words;
  uint64_t offset = place.offset, seq = place.seq;
  for (; seq < to && offset < safe_to; ++seq) {
    const uint8_t* at = file + offset;
    const uint32_t registers = settled(at[1]), memory = settled(at[2]), flags = settled(at[3]);
    if (at[0] != 0 || registers > words) break;
    const bool flagged = (flags & kThreadFlag) != 0;
    const uint8_t* const positions = at + 4 + (flagged ? 4 : 0) + (flags & 15);
    const uint8_t* const values = positions + registers;
    const uint8_t* const memory_flags = values + registers * sizeof(Word);
    uint32_t memory_words = 2 * memory;
    for (uint32_t i = 0; i < memory; ++i) memory_words += (memory_flags[i] & 1u) ^ 1u;
    for (uint32_t i = 0, word = 0; i < registers; ++i, ++word) {
      word += positions[i];
      if (word >= words) return;  // somebody has changed the file
      std::memcpy(dump + word * sizeof(Word), values + i * sizeof(Word), sizeof(Word));
    }
    if (flagged) std::memcpy(&state.tid, at + 4, 4);
    offset += static_cast<uint64_t>(memory_flags - at) + memory + memory_words * sizeof(Word);
    place = {offset, seq + 1};
  }
}

}  // namespace

void walk_plain(Bytes file, const Shape& shape, uint64_t plain_to, uint64_t to, BlockPlace& place,
                WordState& state) {
  const uint64_t safe_to = file.size() > kBlockBytesMax ? file.size() - kBlockBytesMax : 0;
  if (shape.wide)
    walk<uint64_t>(file.data(), shape, std::min(plain_to, safe_to), to, place, state);
  else
    walk<uint32_t>(file.data(), shape, std::min(plain_to, safe_to), to, place, state);
}

}  // namespace tracewell::formats::trace64
