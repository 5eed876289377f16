// ByteChains: a million byte strings that grow at their ends, all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace tracewell::timeline {

/// A string is a chain of chunks, each twice the size of the one before it until kChunkMax, so that
/// short strings waste little and long ones have few links. No chunk is freed alone.
class ByteChains {
 public:
  struct Chain {
    uint32_t first = 0, last = 0;  // chunks, in units of kUnit; 0 = none
    uint16_t used = 0, room = 0;   // bytes of the last one
  };

  void append(Chain& chain, const uint8_t* bytes, size_t size) {
    while (size > 0) {
      if (chain.used == chain.room) grow(chain);
      const size_t now = std::min<size_t>(size, chain.room - chain.used);
      std::memcpy(at(chain.last) + kLinkBytes + chain.used, bytes, now);
      chain.used = static_cast<uint16_t>(chain.used + now);
      bytes += now;
      size -= now;
    }
  }
  /// Replaces what `out` holds.
  void copy(const Chain& chain, std::vector<uint8_t>& out) const;
  /// Memory taken.
  size_t size_bytes() const { return blocks_.size() * kBlockBytes; }
  void clear();

 private:
  static constexpr size_t kUnit = 8, kLinkBytes = 4, kFirstChunk = 16, kChunkMax = 256;
  static constexpr size_t kBlockBytes = size_t{1} << 18;
  void grow(Chain& chain);
  uint8_t* at(uint32_t chunk) const {
    const size_t offset = size_t{chunk} * kUnit;
    return blocks_[offset / kBlockBytes].get() + offset % kBlockBytes;
  }

  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
  size_t next_ = kUnit;  // offset of what is free; 0 is no chunk
};

}  // namespace tracewell::timeline
