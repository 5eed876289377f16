// A row of a trace that shows the registers before its instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "model/event.h"

namespace tracewell::formats {

/// One row, with everything that it owns. Meant to be used again and again.
struct ShownRow {
  struct Value {
    static constexpr size_t kUnknown = SIZE_MAX;
    uint32_t index;  // into the register layout
    size_t at;       // into `bytes`, as many as the register has; kUnknown = shown, but unreadable
  };
  struct Piece {
    Step::MemoryAccess::Kind kind;
    uint64_t address;
    size_t at;  // into `bytes`
    uint32_t size;
  };
  uint64_t seq = 0;
  uint64_t tid = 0;
  uint64_t pc = 0;
  std::vector<uint8_t> opcode;
  std::string note;  // to stand before the step; empty = none
  bool incomplete = false;  // there are accesses that are not among the pieces
  std::vector<Value> values;
  std::vector<Piece> pieces;
  std::vector<uint8_t> bytes;

  void clear();
  size_t add_bytes(Bytes more);
};

}  // namespace tracewell::formats
