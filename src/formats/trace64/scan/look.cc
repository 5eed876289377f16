#include "formats/trace64/scan/look.h"

#include <algorithm>
#include <cstring>

namespace tracewell::formats::trace64 {

uint32_t Look::lasting(uint64_t offset, bool hidden_tid, uint32_t most) {
  if (most == 0) return most;
  if (offset == file.size()) {
    met_end = true;
    return most;
  }
  Block block;
  const Reading reading = read_block(file, offset, shape, hidden_tid, block);
  met_end |= reading == Reading::Cut;
  if (reading != Reading::Whole) return 0;
  if (plausible && !is_plausible(block, shape)) return 0;
  if (usual && is_unusual(block)) return 0;
  const uint64_t next = offset + block.size;
  skips |= block.is_user() && block.size >= kLargeUserBlock;
  const uint32_t plain = lasting(next, false, most - 1);
  const bool bare_dump =
      next + 1 < file.size() && file[next] == 0 && file[next + 1] == shape.words;
  const bool either = block.is_flagged() || block.is_full(shape) || bare_dump;
  if (plain + 1 == most || !either) return plain + 1;
  return 1 + std::max(plain, lasting(next, true, most - 1));
}

bool goes_on(Bytes file, uint64_t offset, const Shape& shape) {
  Look look{file, shape, false, false};
  return look.lasting(offset, false, kLookAhead) == kLookAhead;
}

bool goes_on_behind_unusual(Bytes file, uint64_t offset, const Shape& shape, bool& met_end) {
  Block block;
  uint64_t at = offset;
  for (uint32_t i = 0; i < kLookAhead && at < file.size(); ++i, at += block.size) {
    const Reading reading = read_block(file, at, shape, false, block);
    if (reading == Reading::Whole) continue;
    if (reading == Reading::Cut && file.size() - at < kBlockBytesMax) break;
    // Where an id may be hidden, look at either reading.
    Look look{file, shape, false, false};
    const bool good = look.lasting(offset, false, kLookAhead) == kLookAhead;
    met_end |= look.met_end;
    return good;
  }
  met_end |= file.size() - at < kBlockBytesMax;
  return true;
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
    if (best != DumpSign::None || !block.is_flagged() || is_unusual(block)) continue;
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
