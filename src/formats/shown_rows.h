// From rows that show the registers before their instruction to steps that tell what is news.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/memory_pieces.h"
#include "model/batch.h"
#include "model/registers.h"

namespace tracewell::formats {

/// One row, with everything that it owns. Meant to be used again and again.
struct ShownRow {
  struct Value {
    uint32_t index;  // into the register layout
    size_t at;       // into `bytes`, as many as the register has
  };
  struct Piece {
    Step::MemoryAccess::Kind kind;  // as in MemoryPiece
    uint64_t address;
    size_t at;  // into `bytes`
    uint32_t size;
  };
  uint64_t seq = 0;
  uint64_t tid = 0;
  uint64_t pc = 0;
  std::vector<uint8_t> opcode;
  std::string note;  // to stand before the step; empty = none
  std::vector<Value> values;
  std::vector<Piece> pieces;
  std::vector<uint8_t> bytes;

  void clear();
  size_t add_bytes(Bytes more);
};

/// Finds out what each row's instruction changed: what the next row shows differently, if it is
/// the same thread's. Holds one row back for that, and each thread's registers.
class ShownRows {
 public:
  explicit ShownRows(const RegisterLayout& layout) : layout_(layout) {}

  /// Adds the row before this one to `batch`, and keeps this one; `row` gets another's memory.
  void add(ShownRow& row, Batch& batch);
  /// Rows are missing here: nobody knows what the one before changed.
  void gap() { gap_ = true; }
  /// Adds the last row.
  void finish(Batch& batch);

 private:
  void show_pc(ShownRow& row) const;
  void keep_news(ShownRow& row);
  void emit(const std::vector<ShownRow::Value>* changed, const std::vector<uint8_t>* bytes,
            Batch& batch);

  const RegisterLayout& layout_;
  std::unordered_map<uint64_t, RegisterState> by_thread_;
  std::optional<ShownRow> held_;
  bool gap_ = false;
};

}  // namespace tracewell::formats
