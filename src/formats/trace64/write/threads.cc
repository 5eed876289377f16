#include "formats/trace64/write/threads.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "base/begin_anew.h"
#include "base/varint.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint64_t kPackedCost = 64;  // of one, besides its bytes

/// Goes over all that a thread has, as bytes; `Act` copies these to somewhere, or from there.
template <class Thread, class Act>
void each_part(Thread& thread, Act act) {
  act(thread.registers.block.data(), thread.registers.block.size());
  act(thread.registers.valid.data(), thread.registers.valid.size());
  act(thread.dump.bytes.data(), thread.dump.bytes.size());
  act(&thread.dump.valid, sizeof(thread.dump.valid));
  act(&thread.known, sizeof(thread.known));
}
static_assert(std::is_trivially_copyable_v<WordSet> && std::is_trivially_copyable_v<RegisterSet>);

/// As runs: how many zeros, how many other bytes, and these. (A few zeros may be among them.)
std::vector<uint8_t> without_zeros(const std::vector<uint8_t>& flat) {
  constexpr size_t kZerosMin = 4;
  std::vector<uint8_t> out;
  size_t at = 0;
  while (at < flat.size()) {
    size_t from = at;
    while (from < flat.size() && flat[from] == 0) ++from;
    size_t to = from, zeros = 0;
    while (to < flat.size() && zeros < kZerosMin) zeros = flat[to++] == 0 ? zeros + 1 : 0;
    to -= zeros;
    append_varint(out, from - at);
    append_varint(out, to - from);
    out.insert(out.end(), flat.begin() + static_cast<ptrdiff_t>(from),
               flat.begin() + static_cast<ptrdiff_t>(to));
    at = to;
  }
  out.shrink_to_fit();
  return out;
}

}  // namespace

void WrittenThreads::clear() {
  begin_anew(open_);
  order_.clear();
  begin_anew(packed_);
  oldest_ = 0;
  packed_bytes_ = 0;
}

/// The one that was opened first.
void WrittenThreads::pack_one() {
  const uint32_t tid = order_[oldest_];
  const auto one = open_.find(tid);
  flat_.clear();
  each_part(one->second, [&](const auto* part, size_t size) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(part);
    flat_.insert(flat_.end(), bytes, bytes + size);
  });
  std::vector<uint8_t>& packed = packed_[tid];
  packed = without_zeros(flat_);
  packed_bytes_ += packed.size() + kPackedCost;
  open_.erase(one);
}

void WrittenThreads::unpack(uint32_t tid, WrittenThread& thread) {
  const auto packed = packed_.find(tid);
  if (packed == packed_.end()) return;
  size_t size = 0;
  each_part(thread, [&](const auto*, size_t part) { size += part; });
  flat_.assign(size, 0);
  Cursor in(packed->second);
  for (size_t at = 0; !in.at_end();) {
    at += in.varint();
    const Bytes run = in.take(in.varint());
    std::copy(run.begin(), run.end(), flat_.begin() + static_cast<ptrdiff_t>(at));
    at += run.size();
  }
  const uint8_t* from = flat_.data();
  each_part(thread, [&](auto* part, size_t bytes) {
    std::memcpy(part, from, bytes);
    from += bytes;
  });
  packed_bytes_ -= packed->second.size() + kPackedCost;
  packed_.erase(packed);
}

Result<WrittenThread*> WrittenThreads::of(const WordMap& map, uint32_t tid) {
  const auto found = open_.find(tid);
  if (found != open_.end()) return &found->second;
  if (packed_bytes_ > kPackedBytesMax)
    return Error{Errc::Limit,
                 fmt::format("the registers of {} threads take more than {} MiB; write the threads "
                             "apart, with --where",
                             packed_.size() + open_.size(), kPackedBytesMax >> 20),
                 {}};
  if (order_.size() < kOpenMax) {
    order_.push_back(tid);
  } else {
    pack_one();
    order_[oldest_] = tid;
    oldest_ = (oldest_ + 1) % kOpenMax;
  }
  WrittenThread& thread = open_[tid];
  thread.registers.reset(map.layout());
  unpack(tid, thread);
  return &thread;
}

}  // namespace tracewell::formats::trace64
