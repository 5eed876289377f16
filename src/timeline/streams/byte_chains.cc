#include "timeline/streams/byte_chains.h"

#include "base/check.h"

namespace tracewell::timeline {

void ByteChains::grow(Chain& chain) {
  const size_t size =
      chain.room == 0 ? kFirstChunk : std::min(kChunkMax, 2 * (chain.room + kLinkBytes));
  if (blocks_.empty() || next_ % kBlockBytes + size > kBlockBytes || next_ % kBlockBytes == 0) {
    if (!blocks_.empty()) next_ = blocks_.size() * kBlockBytes;
    blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(kBlockBytes));
  }
  TW_CHECK(next_ / kUnit <= UINT32_MAX);
  const auto chunk = static_cast<uint32_t>(next_ / kUnit);
  next_ += size;
  store_uint(at(chunk), 0, kLinkBytes, Endian::Little);
  if (chain.last != 0)
    store_uint(at(chain.last), chunk, kLinkBytes, Endian::Little);
  else
    chain.first = chunk;
  chain.last = chunk;
  chain.used = 0;
  chain.room = static_cast<uint16_t>(size - kLinkBytes);
}

void ByteChains::copy(const Chain& chain, std::vector<uint8_t>& out) const {
  out.clear();
  size_t size = kFirstChunk;
  for (uint32_t chunk = chain.first; chunk != 0;) {
    const uint8_t* bytes = at(chunk);
    const size_t used = chunk == chain.last ? chain.used : size - kLinkBytes;
    out.insert(out.end(), bytes + kLinkBytes, bytes + kLinkBytes + used);
    chunk = static_cast<uint32_t>(load_uint(bytes, kLinkBytes, Endian::Little));
    size = std::min(kChunkMax, 2 * size);
  }
}

void ByteChains::clear() {
  blocks_.clear();
  next_ = kUnit;
}

}  // namespace tracewell::timeline
