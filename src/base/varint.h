// Numbers in as few bytes as they need: seven bits a byte, low ones first, the last without bit 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace tracewell {

constexpr size_t kVarintMax = 10;

/// Writes to `to`, which has room for kVarintMax bytes; returns how many it took.
inline size_t put_varint(uint8_t* to, uint64_t value) {
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) to[size++] = static_cast<uint8_t>(value | 0x80);
  to[size++] = static_cast<uint8_t>(value);
  return size;
}

inline void append_varint(std::vector<uint8_t>& out, uint64_t value) {
  uint8_t bytes[kVarintMax];
  out.insert(out.end(), bytes, bytes + put_varint(bytes, value));
}

/// A distance of either sign as a number that is small when the distance is; and back.
inline uint64_t folded(uint64_t distance) { return distance << 1 ^ (0 - (distance >> 63)); }
inline uint64_t unfolded(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

/// A cursor over bytes that nobody vouches for. A read beyond their end gives 0 and makes it bad;
/// so do the reads after that.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }
  bool bad() const { return bad_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* position() const { return at_; }

  uint8_t byte() {
    if (at_ == end_) return fail();
    return *at_++;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const uint8_t byte = *at_++;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  /// `size` is 0..8.
  uint64_t uint(size_t size) {
    if (size > left()) return fail();
    const uint64_t value = load_uint(at_, size, Endian::Little);
    at_ += size;
    return value;
  }
  Bytes take(uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const Bytes bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }

 private:
  uint8_t fail() {
    bad_ = true;
    at_ = end_;
    return 0;
  }
  const uint8_t* at_;
  const uint8_t* end_;
  bool bad_ = false;
};

}  // namespace tracewell
