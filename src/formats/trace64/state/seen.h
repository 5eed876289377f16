// Memory as the steps written so far have shown it: what the bytes beside an access most likely
// are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "base/begin_anew.h"
#include "model/event.h"

namespace tracewell::formats::trace64 {

class SeenMemory {
 public:
  void clear() { begin_anew(cells_); }
  /// What a step's accesses leave behind.
  void add(std::span<const Step::MemoryAccess> accesses);
  /// The byte at `address`; false: nobody has seen it.
  bool find(uint64_t address, uint8_t& byte) const;

 private:
  struct Cell {
    std::array<uint8_t, 8> bytes = {};
    uint8_t known = 0;  // a bit a byte
  };
  static constexpr size_t kCellsMax = 1 << 18;  // then it begins anew
  void put(uint64_t address, uint8_t byte);
  void forget(uint64_t address, uint64_t size);

  std::unordered_map<uint64_t, Cell> cells_;  // by address / 8
};

}  // namespace tracewell::formats::trace64
