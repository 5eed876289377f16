// The data pointer: a bit of the entry, counted from its first byte.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/entry.h"

namespace tracewell::report {

/// Every read and move is checked against the entry. One that fails leaves the pointer at the
/// entry's end, so that what is read behind it fails too and nothing wrong is printed, until a move
/// to a place that is there.
class Cursor {
 public:
  void begin(const Entry& entry) {
    entry_ = &entry;
    base_ = 0;
    bit_ = entry.first_byte() * 8;
    if (bit_ > end()) bit_ = end();
  }

  /// Where it is in the entry, without the base pointer; whole bytes.
  uint64_t offset() const { return bit_ / 8 - base_; }
  uint64_t base() const { return base_; }
  /// Bytes from the pointer, rounded up to a byte, to the entry's end.
  uint64_t left() const { return (end() - round_up(bit_)) / 8; }

  bool go(uint64_t bytes, uint64_t bits) {
    return place(base_ * 8 + std::min(bytes, kFar) * 8 + bits);
  }
  bool advance(uint64_t bytes, uint64_t bits) {
    return place(bit_ + std::min(bytes, kFar) * 8 + bits);
  }
  /// From the byte that it is in.
  bool back(uint64_t bytes) {
    const uint64_t byte = bit_ / 8;
    return bytes <= byte - base_ ? place((byte - bytes) * 8) : place(~uint64_t{0});
  }
  /// Moves the data pointer along.
  bool set_base(uint64_t bytes) {
    const uint64_t offset_bits = bit_ - base_ * 8;
    if (bytes > entry_->buffer.size()) return place(~uint64_t{0});
    base_ = bytes;
    return place(base_ * 8 + offset_bits);
  }

  /// The next `size` bytes, from the next whole byte on; nullptr when they are not all there.
  const uint8_t* take(uint64_t size) {
    if (size > left()) {
      bit_ = end();
      return nullptr;
    }
    const uint64_t byte = round_up(bit_) / 8;
    bit_ = (byte + size) * 8;
    return entry_->buffer.data() + byte;
  }
  /// The next `count` bits (0..64), the first on top, in the order in which they are stored.
  bool take_bits(unsigned count, uint64_t& value) {
    if (count > end() - bit_) return place(~uint64_t{0});
    value = 0;
    for (unsigned i = 0; i < count; ++i, ++bit_)
      value = value << 1 | (entry_->buffer[bit_ / 8] >> (7 - bit_ % 8) & 1);
    return true;
  }

 private:
  static constexpr uint64_t kFar = uint64_t{1} << 40;  // behind any entry
  static uint64_t round_up(uint64_t bit) { return (bit + 7) / 8 * 8; }
  uint64_t end() const { return uint64_t{entry_->buffer.size()} * 8; }
  bool place(uint64_t bit) {
    const bool there = bit <= end();
    bit_ = there ? bit : end();
    return there;
  }

  const Entry* entry_ = nullptr;
  uint64_t base_ = 0, bit_ = 0;
};

}  // namespace tracewell::report
