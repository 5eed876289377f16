// Blocks of an x64dbg trace: where each part of one stands. Pure functions over the file's bytes.
// docs/formats/trace64.md has the layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace tracewell::formats::trace64 {

/// What the two architectures differ in.
struct Shape {
  bool wide = true;        // x64
  uint32_t word = 8;       // bytes of a register word, an address, a piece of memory
  uint32_t words = 172;    // of a full register dump
  uint32_t pc_word = 16;
  uint32_t dump_bytes() const { return words * word; }
};
constexpr Shape kX64{true, 8, 172, 16};
constexpr Shape kX32{false, 4, 216, 8};

constexpr uint32_t kSpWord = 4;                // the stack pointer, in either shape
constexpr uint32_t kMemoryMax = 255;          // entries of a block: their number is a byte
constexpr uint32_t kUsualMemoryMax = 32;      // x64dbg writes and reads no more
constexpr uint32_t kFullDumpEvery = 512;      // blocks
constexpr uint32_t kBlockBytesMax = 4 + 4 + 15 + 216 * 9 + kMemoryMax * 25;
constexpr uint32_t kBlockBytesMin = 4;        // nothing is listed, and no opcode
constexpr uint8_t kThreadFlag = 0x80;
constexpr uint8_t kUserBlockMin = 0x80;

/// One block, checked. Pointers are into the file, which its author may write to meanwhile: sizes,
/// counts and places of the parts hold, but what is in them may be something else each time that it
/// is looked at. So whoever adds up the positions or counts the memory flags again checks each word
/// against Shape::words, and what has changed against `new_count`.
struct Block {
  uint64_t offset = 0;
  uint64_t size = 0;              // bytes, all of it
  uint8_t type = 0;               // 0, or a user block's
  uint8_t flags = 0;              // as stored
  bool has_tid = false;           // also when the flag that should say so is clear
  uint32_t tid = 0;
  Bytes opcode;
  uint32_t register_count = 0;
  uint32_t memory_count = 0;
  const uint8_t* positions = nullptr;   // register_count
  const uint8_t* values = nullptr;      // register_count words
  const uint8_t* memory_flags = nullptr;
  const uint8_t* addresses = nullptr;
  const uint8_t* old_words = nullptr;
  const uint8_t* new_words = nullptr;   // one for each entry whose flag says that it changed
  uint32_t new_count = 0;
  Bytes user_data;
  // What blocks of ours in front of it say, for those who go past these.
  Bytes unknown;  // registers
  Bytes told;     // accesses
  bool behind_gap = false;

  bool is_user() const { return type != 0; }
  bool is_flagged() const { return (flags & kThreadFlag) != 0; }
  bool is_full(const Shape& shape) const { return register_count == shape.words; }
  /// The part behind the register values.
  Bytes memory_bytes(const Shape& shape) const {
    return {memory_flags, memory_count + size_t{shape.word} * (2 * memory_count + new_count)};
  }
};

enum class Reading : uint8_t { Whole, Cut, Bad };

/// The block at `offset`, which is inside the file. `hidden_tid`: a thread id is there though the
/// flag is clear. Cut: all of it that is there makes sense, and the file ends.
Reading read_block(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid, Block& out);

/// The bytes of a block as nearly all are: no thread id, some registers, some accesses; 0: read it
/// with read_block(). From `start` there are kBlockBytesMax bytes.
uint64_t plain_block_size(const uint8_t* start, const Shape& shape);

/// Does the block tell this register word?
bool lists_word(const Block& block, uint32_t word);

/// Why read_block() said Bad, in words.
std::string why_bad(Bytes file, uint64_t offset, const Shape& shape, bool hidden_tid);

/// The sum of a block's positions.
uint32_t sum_of_positions(const Block& block);

/// Reserved bits, of the block or of an access. Not of a user block.
bool has_odd_flags(const Block& block);

/// Whole, and with nothing in it that no recorder writes: reserved bits, a full dump that lists
/// words twice. For guesses.
bool is_plausible(const Block& block, const Shape& shape);

/// The description of the format allows it, but x64dbg neither writes nor reads it: an opcode of no
/// bytes, more entries than 32. Damage looks like that, too.
inline bool is_unusual(const Block& block) {
  return block.type == 0 && (block.opcode.empty() || block.memory_count > kUsualMemoryMax);
}

}  // namespace tracewell::formats::trace64
