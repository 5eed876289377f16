// Sums: a sidecar's segment may have been damaged on its way through disks and copies, and its
// index would then answer, and be wrong. So each kSumBytes of it have a checksum, which is looked
// at when one of these bytes is used for the first time: who asks little reads little.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace tracewell::timeline {

constexpr size_t kSumBytes = 1024;  // covered by one
constexpr size_t kSumSize = 4;      // bytes of it

/// Sums of bytes that come piece by piece.
class SumWriter {
 public:
  void add(Bytes bytes);
  /// All of them; the last may cover less than the others.
  std::vector<uint8_t> finish();

 private:
  void put(Bytes bytes);
  std::vector<uint8_t> open_;  // less than kSumBytes
  std::vector<uint8_t> out_;
};

inline uint64_t sums_size(uint64_t bytes) {
  return (bytes / kSumBytes + (bytes % kSumBytes != 0)) * kSumSize;
}

/// Does not own the bytes. Any number of threads may ask.
class Sums {
 public:
  /// `sums` has sums_size(bytes.size()) bytes. `damaged` is set once something is wrong.
  Sums(Bytes bytes, Bytes sums, std::shared_ptr<std::atomic<bool>> damaged);

  /// Do these, which are a part of the bytes, agree with their sums?
  bool good(Bytes part) const;
  bool good() const { return good(bytes_); }
  /// Something is wrong that sums do not show.
  void tell_damage() const { damaged_->store(true, std::memory_order_relaxed); }
  Bytes sums() const { return sums_; }

 private:
  bool look_at(size_t number) const;

  Bytes bytes_, sums_;
  std::shared_ptr<std::atomic<bool>> damaged_;
  mutable std::vector<std::atomic<uint64_t>> seen_;  // a bit each: found good
};

/// The same where there may be none: nobody can have changed the bytes then.
inline bool good(const Sums* sums, Bytes part) { return sums == nullptr || sums->good(part); }

}  // namespace tracewell::timeline
