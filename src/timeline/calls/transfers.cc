#include "timeline/calls/transfers.h"

#include <algorithm>

namespace tracewell::timeline {
namespace {

constexpr size_t kTransferSkipBytes = 8;

}  // namespace

std::vector<uint8_t> transfer_stream(std::span<const Transfer> transfers) {
  std::vector<uint8_t> skips, entries;
  ByteWriter skip(skips, Endian::Little);
  Transfer last;
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& one = transfers[i];
    if (i % Transfers::kChunk == 0) {
      last = {one.step};
      if (i != 0)
        for (uint64_t value : {uint64_t{one.step}, uint64_t{entries.size()}}) skip.uint(value, 4);
    }
    append_varint(entries, uint64_t{one.step - last.step} << 1 | (one.is_return ? 1 : 0));
    append_varint(entries, folded(one.to - last.to));
    if (!one.is_return) append_varint(entries, folded(one.back - one.to));
    last = one;
  }
  std::vector<uint8_t> out;
  append_varint(out, skips.size() / kTransferSkipBytes);
  out.insert(out.end(), skips.begin(), skips.end());
  out.insert(out.end(), entries.begin(), entries.end());
  return out;
}

Transfers::Transfers(const Stream& stream, const Sums* sums) : sums_(sums), first_(stream.first) {
  if (!good(sums, stream.bytes.first(std::min(stream.bytes.size(), kVarintMax)))) return;
  Cursor in(stream.bytes);
  const uint64_t skips = in.varint();
  if (in.bad() || skips > in.left() / kTransferSkipBytes) return;
  skips_ = in.take(skips * kTransferSkipBytes).data();
  entries_ = in.take(in.left());
  chunks_ = skips + 1;
}

/// nullptr at damage.
const uint8_t* Transfers::skip(size_t chunk) const {
  const uint8_t* at = skips_ + (chunk - 1) * kTransferSkipBytes;
  return good(sums_, {at, kTransferSkipBytes}) ? at : nullptr;
}

uint32_t Transfers::first(size_t chunk) const {
  if (chunk == 0) return first_;
  const uint8_t* at = skip(chunk);
  return at != nullptr ? static_cast<uint32_t>(load_uint(at, 4, Endian::Little)) : UINT32_MAX;
}

size_t Transfers::chunk_of(uint64_t step) const {
  size_t low = 0, high = chunks_;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (first(middle) <= step ? low : high) = middle;
  }
  return low;
}

bool Transfers::read(size_t chunk, std::vector<Transfer>& out) const {
  uint64_t begin = 0, end = entries_.size();
  const auto offset = [&](size_t of, uint64_t& to) {
    const uint8_t* at = skip(of);
    if (at != nullptr) to = load_uint(at + 4, 4, Endian::Little);
    return at != nullptr;
  };
  if (chunk != 0 && !offset(chunk, begin)) return false;
  if (chunk + 1 < chunks_ && !offset(chunk + 1, end)) return false;
  if (begin > end || end > entries_.size()) return false;
  const Bytes bytes = entries_.subspan(begin, end - begin);
  if (!good(sums_, bytes)) return false;
  Cursor in(bytes);
  uint64_t step = first(chunk), to = 0;
  for (size_t i = 0; i < kChunk && !in.at_end(); ++i) {
    const uint64_t head = in.varint();
    step += head >> 1;
    to += unfolded(in.varint());
    const bool is_return = (head & 1) != 0;
    const uint64_t back = is_return ? 0 : to + unfolded(in.varint());
    if (in.bad() || (head >> 1) > UINT32_MAX || step > UINT32_MAX) return false;
    if (i != 0 && head >> 1 == 0) return false;  // a thread arrives once in a step
    out.push_back({static_cast<uint32_t>(step), is_return, to, back});
  }
  return in.at_end();
}

}  // namespace tracewell::timeline
