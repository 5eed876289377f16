// RangeIndex: which of many address ranges holds an address, when they may lie inside each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/work.h"

namespace tracewell::symbols {

/// Among the ranges that hold an address the one that begins last wins, which is the innermost one;
/// of several that begin there, the one that was added first. Takes room for what was added and a
/// logarithmic time for a find(), however the ranges overlap.
class RangeIndex {
 public:
  /// [start, end); an empty one is left out.
  void add(uint64_t start, uint64_t end, uint32_t value);
  /// Once, between the last add() and the first find(). Where `stop` says so, nothing is found.
  void build(const Stop& stop = {});

  /// The `value` of the range that holds the address.
  std::optional<uint32_t> find(uint64_t address) const;

 private:
  struct Range {
    uint64_t start, end;
    uint32_t value;
    uint32_t order;
  };
  /// From `start` to the next piece. nullopt = no range is there.
  struct Piece {
    uint64_t start;
    std::optional<uint32_t> value;
  };
  void end_until(uint64_t address);
  void put(uint64_t start);

  std::vector<Range> ranges_;
  std::vector<Range> open_;  // while it is built: what began and has not ended, innermost last
  std::vector<Piece> pieces_;
};

}  // namespace tracewell::symbols
