// ThreadStates: the registers of any number of threads at once. A few threads have theirs whole;
// of the others, all but one are kept as what they have different from the first thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/registers.h"

namespace tracewell::timeline {

class ThreadStates {
 public:
  static constexpr uint32_t kWhole = 64;

  /// `layout` must outlive it.
  explicit ThreadStates(const RegisterLayout& layout) : layout_(layout) {}

  /// Of thread `number`, which is at most one more than those before; nothing is known of a new
  /// one. Stays until the next call.
  RegisterState& of(uint32_t number) {
    if (number < whole_.size()) return whole_[number];
    return number == here_ ? open_ : other(number);
  }
  /// Memory taken.
  size_t size_bytes() const { return whole_.size() * state_bytes() + packed_bytes_; }

 private:
  size_t state_bytes() const { return layout_.size_bytes + layout_.registers.size() / 8 + 64; }
  RegisterState& other(uint32_t number);
  void close();
  void unpack(const std::vector<uint8_t>& packed, RegisterState& state) const;

  const RegisterLayout& layout_;
  std::vector<RegisterState> whole_;
  RegisterState base_;                        // what the others are told from
  uint32_t here_ = UINT32_MAX;                // of the others, the one in open_
  RegisterState open_;
  std::vector<std::vector<uint8_t>> packed_;  // from thread kWhole on
  size_t packed_bytes_ = 0;
  std::vector<uint8_t> scratch_;
};

}  // namespace tracewell::timeline
