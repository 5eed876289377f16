// A record's blocks, one after the other. The bytes come from a program that may have spoiled them:
// what makes no sense ends the record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "fast/unchanged_pages.h"
#include "ring/frame_ring.h"

namespace tracewell::fast {

struct RecordBlock {
  enum class Kind : uint8_t { General, Vector, VectorChange, Memory, Variable, Fault };
  Kind kind = Kind::Memory;
  tracewell_general general{};  // General
  uint64_t address = 0;         // Memory; Fault: of memory that could not be read
  uint32_t number = 0;          // Variable; Fault: a tracewell::ax::Fault
  int64_t value = 0;            // Variable
  bool condition = false;       // Fault: the condition's, so there is nothing else
  tracewell_vector_change change{};  // VectorChange
  Bytes bytes;                  // Memory; Vector: what XSAVEC has stored; VectorChange: parts
};

/// Copies a record's blocks, which somebody may change meanwhile, to `into`, if they are a frame's
/// blocks as they stand: memory and variables alone, all of it as the program has it. What is
/// looked at is what is copied. False: they are not, and `into` may hold anything.
bool copy_plain(Bytes blocks, UnchangedPages& pages, std::span<uint8_t> into);

class RecordBlocks {
 public:
  explicit RecordBlocks(Bytes blocks) : rest_(blocks) {}
  /// nullopt at the end, or where bad() from now on.
  std::optional<RecordBlock> next();
  bool bad() const { return bad_; }

 private:
  Bytes rest_;
  bool bad_ = false;
};

}  // namespace tracewell::fast
