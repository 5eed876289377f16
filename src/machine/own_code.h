// Code as a decoder may have it: bytes that stay what they are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace tracewell::machine {

/// A copy of one instruction's bytes, of as many as any has. A decoder goes over them more than
/// once, and they may stand in a file that its author writes to meanwhile.
class OwnCode {
 public:
  static constexpr size_t kInstructionBytesMax = 15;

  explicit OwnCode(Bytes code) : size_(std::min(code.size(), kInstructionBytesMax)) {
    std::copy_n(code.begin(), size_, bytes_.begin());
  }
  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return size_; }

 private:
  std::array<uint8_t, kInstructionBytesMax> bytes_;
  size_t size_;
};

}  // namespace tracewell::machine
