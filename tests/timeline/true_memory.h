// What memory really held, at each moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tracewell::timeline::test {

/// All of it is zero in the beginning.
class TrueMemory {
 public:
  /// In front of step `moment` it is so. By ascending moment.
  void put(uint64_t moment, uint64_t address, uint8_t byte) {
    now_[address] = byte;
    bytes_[address].push_back({moment, byte});
  }
  uint8_t now(uint64_t address) const {
    const auto found = now_.find(address);
    return found == now_.end() ? 0 : found->second;
  }
  uint8_t at(uint64_t moment, uint64_t address) const {
    const auto found = bytes_.find(address);
    if (found == bytes_.end()) return 0;
    uint8_t value = 0;
    for (const auto& [from, byte] : found->second)
      if (from <= moment) value = byte;
    return value;
  }
  /// Did it hold the value in front of step `from`, or later until `to`?
  bool held(uint64_t from, uint64_t to, uint64_t address, uint8_t value) const {
    if (at(from, address) == value) return true;
    const auto found = bytes_.find(address);
    return found != bytes_.end() && std::ranges::any_of(found->second, [&](const auto& one) {
             return one.first > from && one.first <= to && one.second == value;
           });
  }

 private:
  std::map<uint64_t, uint8_t> now_;
  std::map<uint64_t, std::vector<std::pair<uint64_t, uint8_t>>> bytes_;  // from which moment on
};

}  // namespace tracewell::timeline::test
