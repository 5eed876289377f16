// KeyIndex: numbers 64-bit keys in the order in which they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tracewell::timeline {

class KeyIndex {
 public:
  /// The key's number, and whether it is a new one.
  std::pair<uint32_t, bool> add(uint64_t key) {
    if (keys_.size() * 2 >= slots_.size()) grow();
    for (size_t at = place(key);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.number == 0) {
        keys_.push_back(key);
        slot = {key, static_cast<uint32_t>(keys_.size())};
        return {slot.number - 1, true};
      }
      if (slot.key == key) return {slot.number - 1, false};
    }
  }
  const std::vector<uint64_t>& keys() const { return keys_; }  // by number
  size_t size_bytes() const {
    return slots_.capacity() * sizeof(Slot) + keys_.capacity() * sizeof(uint64_t);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number = 0;  // from 1; 0 = free
  };
  size_t place(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15) >> 20) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, {});
    for (size_t i = 0; i < keys_.size(); ++i) {
      size_t at = place(keys_[i]);
      while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {keys_[i], static_cast<uint32_t>(i + 1)};
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;
};

}  // namespace tracewell::timeline
