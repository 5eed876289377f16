// Byte spans, and the bounds-checked reader that is the only way to touch input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.h"

namespace tracewell {

/// Borrowed, read-only bytes. Whoever hands them out says how long they live.
using Bytes = std::span<const uint8_t>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// memcpy(), without a call for the eight bytes that most values have.
inline void copy_bytes(void* to, const void* from, size_t size) {
  if (size == 8) std::memcpy(to, from, 8);
  else std::memcpy(to, from, size);
}

/// A cursor over borrowed bytes. Every read can fail (nullopt) and then leaves the cursor alone.
class ByteReader {
 public:
  ByteReader(Bytes bytes, Endian endian) : bytes_(bytes), endian_(endian) {}

  size_t offset() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  bool at_end() const { return left() == 0; }

  /// `size` is 1..8 bytes.
  std::optional<uint64_t> uint(size_t size) {
    auto raw = take(size);
    if (!raw) return std::nullopt;
    return load_uint(raw->data(), size, endian_);
  }
  std::optional<Bytes> take(size_t size) {
    if (size > left()) return std::nullopt;
    Bytes result = bytes_.subspan(at_, size);
    at_ += size;
    return result;
  }

 private:
  Bytes bytes_;
  Endian endian_;
  size_t at_ = 0;
};

/// Appends numbers and bytes to a buffer it does not own.
class ByteWriter {
 public:
  ByteWriter(std::vector<uint8_t>& out, Endian endian) : out_(out), endian_(endian) {}

  void uint(uint64_t value, size_t size) {
    const size_t at = out_.size();
    out_.resize(at + size);
    store_uint(out_.data() + at, value, size, endian_);
  }
  void bytes(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

 private:
  std::vector<uint8_t>& out_;
  Endian endian_;
};

}  // namespace tracewell
