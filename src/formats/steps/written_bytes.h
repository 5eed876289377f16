// WrittenBytes: what one instruction wrote, to be asked byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace tracewell::formats {

/// All writes first, then sort(), then the questions. Of bytes written twice the last one holds.
class WrittenBytes {
 public:
  void clear();
  void add(uint64_t address, Bytes bytes);
  /// Written with nobody knows what.
  void add_unknown(uint64_t address, uint64_t size);
  void sort();
  bool empty() const { return bytes_.empty() && unknown_.empty(); }
  /// What was left there; nullopt = it was not written, or nobody knows what.
  std::optional<uint8_t> find(uint64_t address) const;
  bool is_unknown(uint64_t address) const;

 private:
  struct Range {
    uint64_t first = 0, last = 0;
  };
  std::vector<std::pair<uint64_t, uint8_t>> bytes_;
  std::vector<Range> unknown_;
};

}  // namespace tracewell::formats
