#include "timeline/index/sums.h"

#include <algorithm>
#include <utility>

#include "base/murmur3.h"

namespace tracewell::timeline {
namespace {

constexpr uint32_t kSumSeed = 0x73756d73;

uint32_t sum_of(Bytes bytes) {
  return static_cast<uint32_t>(murmur3_x64_128(bytes, kSumSeed)[0]);
}

}  // namespace

void SumWriter::put(Bytes bytes) {
  ByteWriter(out_, Endian::Little).uint(sum_of(bytes), kSumSize);
}

void SumWriter::add(Bytes bytes) {
  while (!bytes.empty()) {
    if (open_.empty() && bytes.size() >= kSumBytes) {
      put(bytes.first(kSumBytes));
      bytes = bytes.subspan(kSumBytes);
      continue;
    }
    const Bytes now = bytes.first(std::min(bytes.size(), kSumBytes - open_.size()));
    open_.insert(open_.end(), now.begin(), now.end());
    bytes = bytes.subspan(now.size());
    if (open_.size() < kSumBytes) return;
    put(open_);
    open_.clear();
  }
}

std::vector<uint8_t> SumWriter::finish() {
  if (!open_.empty()) put(open_);
  return std::move(out_);
}

Sums::Sums(Bytes bytes, Bytes sums, std::shared_ptr<std::atomic<bool>> damaged)
    : bytes_(bytes),
      sums_(sums),
      damaged_(std::move(damaged)),
      seen_(sums.size() / kSumSize / 64 + 1) {}

bool Sums::look_at(size_t number) const {
  std::atomic<uint64_t>& seen = seen_[number / 64];
  const uint64_t bit = uint64_t{1} << (number % 64);
  if ((seen.load(std::memory_order_relaxed) & bit) != 0) return true;
  const size_t at = number * kSumBytes;
  const Bytes covered = bytes_.subspan(at, std::min(kSumBytes, bytes_.size() - at));
  const uint64_t wanted = load_uint(sums_.data() + number * kSumSize, kSumSize, Endian::Little);
  if (sum_of(covered) != wanted) {
    damaged_->store(true, std::memory_order_relaxed);
    return false;
  }
  seen.fetch_or(bit, std::memory_order_relaxed);
  return true;
}

bool Sums::good(Bytes part) const {
  if (part.empty()) return true;
  const auto first = static_cast<size_t>(part.data() - bytes_.data());
  const size_t last = (first + part.size() - 1) / kSumBytes;
  for (size_t number = first / kSumBytes; number <= last; ++number)
    if (!look_at(number)) return false;
  return true;
}

}  // namespace tracewell::timeline
