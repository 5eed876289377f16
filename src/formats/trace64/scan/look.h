// Looking a few blocks ahead in an x64dbg trace: does a guess at what begins somewhere make sense?
#pragma once

#include <cstdint>
#include <optional>

#include "formats/trace64/blocks/block.h"

namespace tracewell::formats::trace64 {

constexpr uint32_t kLookAhead = 6;  // blocks
// A few bytes that are no such thing easily look like one, whose size then is any number.
constexpr uint64_t kLargeUserBlock = 1 << 20;

/// A guess at what begins somewhere.
struct Look {
  Bytes file;
  const Shape& shape;
  bool plausible = true;  // blocks are to be that, and not only whole
  bool usual = true;      // … and no is_unusual()
  bool skips = false;     // becomes true where it goes past a user block that is large
  bool met_end = false;   // becomes true where a longer file might say something else

  /// For how many blocks a reading of the file makes sense, up to `most`; the end of the file,
  /// where a block ends, counts as all of them. Behind flagged blocks, and of full dumps, either
  /// reading will do.
  uint32_t lasting(uint64_t offset, bool hidden_tid, uint32_t most);
};

/// Is there block behind block for a while, plausible or not, or up to the end of the file?
bool goes_on(Bytes file, uint64_t offset, const Shape& shape);

/// The same behind a block that is_unusual(), where the file may also end inside a block.
/// `met_end` becomes true where a longer file might say something else.
bool goes_on_behind_unusual(Bytes file, uint64_t offset, const Shape& shape, bool& met_end);

/// The first full dump at or after `from` that is followed by plausible blocks or the end of the
/// file; or by damage, where none begins inside of it.
std::optional<uint64_t> find_full_dump(Bytes file, uint64_t from, const Shape& shape);

}  // namespace tracewell::formats::trace64
