// Event: one thing that happened. Payloads are spans into the Batch that holds the event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "base/bytes.h"

namespace tracewell {

/// One executed instruction and what it changed.
struct Step {
  struct RegisterChange {
    uint32_t index;  // into Catalog::registers.registers
    Bytes value;     // in the trace's byte order
  };
  struct MemoryAccess {
    enum class Kind : uint8_t { Read, Write };
    uint64_t address;
    Kind kind;
    Bytes old_bytes;
    Bytes new_bytes;  // empty for reads
  };
  uint64_t pc = 0;
  Bytes opcode;
  std::span<const RegisterChange> registers;
  std::span<const MemoryAccess> memory;
};

/// One piece of a trace frame, in the order in which it was recorded.
struct FrameBlock {
  enum class Kind : uint8_t { Registers, Memory, Variable, Static };
  Kind kind = Kind::Memory;
  uint64_t address = 0;  // Memory
  int32_t number = 0;    // Variable
  int64_t value = 0;     // Variable
  Bytes bytes;           // Registers: a block in Catalog::registers' layout; Memory; Static
};

/// What a tracepoint collected at one hit (or one step after it).
struct Frame {
  int32_t tracepoint = 0;
  std::optional<uint64_t> pc;  // of the hit, if it is known at all
  std::span<const FrameBlock> blocks;
  /// One bit a register (by index in the layout, least significant bit first): which of the
  /// register block's values were collected. Empty = all of them.
  Bytes registers_valid;
};

/// One firing of a trace hook in a program.
struct Hook {
  uint16_t id = 0;
  uint16_t subhook = 0;
  std::optional<uint32_t> type;
  bool generic = false;
  uint8_t environment_bits = 64;  // 32 or 64
  std::span<const uint64_t> words;
  Bytes data;
};

/// Tracing went on or off, a clock changed, a session began, or somebody left a note.
struct Mark {
  std::string_view text;
};

/// Something is missing here.
struct Lost {
  uint64_t count = 0;  // of events; 0 = not known
  std::string_view why;
};

struct Event {
  uint64_t seq = 0;                // number in the trace, from 0
  std::optional<int64_t> time_ns;  // Unix epoch
  uint64_t tid = 0;                // 0 = not known
  int32_t cpu = -1;                // -1 = not known
  std::variant<Step, Frame, Hook, Mark, Lost> body;
};

/// The first block of `kind`, or nullptr.
const FrameBlock* find_block(const Frame& frame, FrameBlock::Kind kind);
/// Is register `index` of the layout among what the frame collected?
bool register_valid(const Frame& frame, uint32_t index);

}  // namespace tracewell
