// Calls and returns in the order in which they arrive. A table by thread; a thread's stream is
//
//   varint skips · skips: u32 step of a chunk's first entry, u32 its offset in what follows
//   · chunks of kChunk entries · entry: varint distance from the step before << 1 | return · varint
//   address of arrival, as a signed distance from the last one · for calls: varint address behind
//   the call, as a signed distance from that of arrival
//
// The stream's first step is that of the first entry. Each chunk is told from its first step and
// from address 0, so that one can be read without those before it; there is a skip for each but the
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"
#include "timeline/streams/stream_table.h"

namespace tracewell::timeline {

struct Transfer {
  uint32_t step = 0;  // that arrives; from where the segment begins
  bool is_return = false;
  uint64_t to = 0;
  uint64_t back = 0;  // of a call: where a return from it goes
};

/// The stream of a thread: `transfers`, of which there is one at least, ascend.
std::vector<uint8_t> transfer_stream(std::span<const Transfer> transfers);

/// Reads a stream in place, and looks at no more of it than it must. Damage ends a chunk. Where
/// there are sums, what does not agree with them is damage.
class Transfers {
 public:
  static constexpr size_t kChunk = 256;

  Transfers() = default;
  explicit Transfers(const Stream& stream, const Sums* sums = nullptr);

  size_t chunks() const { return chunks_; }
  /// Step of the chunk's first entry; there is such a chunk.
  uint32_t first(size_t chunk) const;
  /// The last chunk that does not begin behind the step, or the first one.
  size_t chunk_of(uint64_t step) const;
  /// Appends a chunk's entries; false at damage.
  bool read(size_t chunk, std::vector<Transfer>& out) const;

 private:
  const uint8_t* skip(size_t chunk) const;

  const Sums* sums_ = nullptr;
  uint32_t first_ = 0;
  size_t chunks_ = 0;
  const uint8_t* skips_ = nullptr;
  Bytes entries_;
};

}  // namespace tracewell::timeline
