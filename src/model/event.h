// Event: one thing that happened. Payloads are spans into the Batch that holds the event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "base/bytes.h"

namespace tracewell {

/// One executed instruction: what held before it as far as that is news, and what it changed.
/// Whoever adds up `before` and `registers` of one thread's steps, in that order, knows the
/// thread's registers at each of them; what was never told is not known (docs/decisions/0006).
struct Step {
  struct RegisterChange {
    uint32_t index;  // into Catalog::registers.registers
    Bytes value;     // in the trace's byte order; empty = changed, but not known to what
  };
  struct MemoryAccess {
    /// Nearby: bytes that the recorder happened to store beside an operand. Their contents are
    /// real, but the instruction did not touch them.
    enum class Kind : uint8_t { Read, Write, ReadWrite, Nearby };
    uint64_t address = 0;
    Kind kind = Kind::Read;
    uint32_t size = 0;  // bytes
    Bytes old_bytes;    // `size` bytes as they were before; empty = not known
    Bytes new_bytes;    // `size` bytes as they are after; empty = not known, or as they were
  };
  uint64_t pc = 0;
  Bytes opcode;
  /// Values known to hold before the instruction that this thread's earlier steps did not tell:
  /// everything at the first step of a session, what somebody else has changed, and what could not
  /// be told at the thread's last step. An empty value: what was told does not hold any more, and
  /// nobody knows what does (behind a Lost, mostly).
  std::span<const RegisterChange> before;
  /// What the instruction changed, with the values after it.
  std::span<const RegisterChange> registers;
  /// false: `registers` is not all that the instruction changed, because nobody looked (the last
  /// step of a session, a thread switch behind it). The thread's next step tells it in `before`.
  bool after_known = true;
  /// The recorder left out accesses, or parts of them.
  bool memory_incomplete = false;
  /// Steps were left out in front of it, of any thread, that may have written memory.
  bool gap_before = false;
  std::span<const MemoryAccess> memory;
  /// How the format that it was read from stored what the fields above cannot say, for a sink of
  /// the same format; mostly empty.
  Bytes stored;
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
  /// A session of recording begins: of all that was known of registers before, nothing holds.
  bool session = false;
};

/// Something is missing here.
struct Lost {
  uint64_t count = 0;  // of events; 0 = not known
  std::string_view why;
};

struct Module;
struct Process;

/// What holds for the trace changes here: what a Catalog says is what was known before the first
/// event. It counts as no event: it has the number of the event behind it.
struct Change {
  enum class Kind : uint8_t {
    ProcessKnown,  // nothing happened: who an Event::process is becomes known as late as here
    ProcessBegan,
    ProcessEnded,
    ProcessRuns,  // another program, by exec
    ModuleLoaded,
    ModuleUnloaded,
    ThreadBegan,
    ThreadEnded,
    ThreadNamed,
  };
  Kind kind = Kind::ProcessKnown;
  /// ProcessKnown, ProcessBegan and ProcessRuns: all that is known of Event::process from here on.
  const Process* process = nullptr;
  const Module* module = nullptr;  // ModuleLoaded, ModuleUnloaded
  std::string_view text = {};      // ThreadNamed: the name
};

struct Event {
  /// Number in the trace, from 0. Where a trace consists of steps, only they are counted; a mark or
  /// a loss has the number of the step behind it. A change always has that of the event behind it.
  uint64_t seq = 0;
  std::optional<int64_t> time_ns;  // Unix epoch
  uint64_t tid = 0;                // 0 = not known
  int32_t cpu = -1;                // -1 = not known
  /// Of the thread: a number that the catalog, or a change in front of it, says who it is of
  /// (process_table.h). 0 = not known. Thread ids are used again, and so are pids; this is not.
  uint32_t process = 0;
  std::variant<Step, Frame, Hook, Mark, Lost, Change> body;
};

/// What a kind of event is called, by the index of its body.
inline constexpr std::string_view kEventKinds[] = {"step", "frame", "hook",
                                                   "mark", "lost",  "change"};

/// Did nothing happen, and is only told who a process is?
inline bool is_only_known(const Event& event) {
  const auto* change = std::get_if<Change>(&event.body);
  return change != nullptr && change->kind == Change::Kind::ProcessKnown;
}

/// The first block of `kind`, or nullptr.
const FrameBlock* find_block(const Frame& frame, FrameBlock::Kind kind);
/// Is register `index` of the layout among what the frame collected?
bool register_valid(const Frame& frame, uint32_t index);

}  // namespace tracewell
