// ThreadRegisters: what is known of the registers of a trace's threads, in bounded memory however
// many threads there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/begin_anew.h"
#include "model/registers.h"

namespace tracewell {

/// Used by one thread at a time.
class ThreadRegisters {
 public:
  static constexpr size_t kBytesMax = 128 << 20;  // room for 50000 threads of an x86-64

  explicit ThreadRegisters(size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  /// Would of() take more memory than there is to be? Then clear() comes first: what was known is
  /// no longer known, and whoever relies on it must hear of that.
  bool is_full(const RegisterLayout& layout, uint64_t tid) const {
    return states_.size() >= threads_max(layout) && !states_.contains(tid);
  }
  /// Nothing is known of a new thread. Stays until clear().
  RegisterState& of(const RegisterLayout& layout, uint64_t tid) {
    const auto [found, is_new] = states_.try_emplace(tid);
    if (is_new) found->second.reset(layout);
    return found->second;
  }
  void clear() { begin_anew(states_); }

 private:
  static constexpr size_t kCost = 128;  // of one, besides its bytes
  size_t threads_max(const RegisterLayout& layout) const {
    return 1 + bytes_max_ / (kCost + layout.size_bytes + layout.registers.size() / 8);
  }

  std::unordered_map<uint64_t, RegisterState> states_;
  size_t bytes_max_;
};

}  // namespace tracewell
