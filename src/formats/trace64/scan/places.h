// What looking through an x64dbg trace finds: places in it, and what is known there.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/blocks/words.h"

namespace tracewell::formats::trace64 {

/// The register words of the block that runs next, as far as they were ever told.
struct WordState {
  std::array<uint8_t, kDumpBytesMax> dump = {};
  std::bitset<kWordsMax> valid;
  uint32_t tid = 0;

  void apply(const Block& block, const Shape& shape);
  uint64_t word(uint32_t index, const Shape& shape) const {
    return load_uint(dump.data() + index * shape.word, shape.word, Endian::Little);
  }
};

/// How a full dump goes with the block in front of it.
enum class Joint : uint8_t {
  Fits = 0,    // it may follow from it
  Unsure = 1,  // the file is not written in a way that would tell
  Breaks = 2,  // something else changed than was announced
  Begins = 3,  // a block of ours says that a session begins
  Goes = 4,    // … that none does
};

struct Keyframe {
  uint64_t seq = 0;
  uint64_t offset = 0;
  uint32_t tid_before = 0;  // the thread so far
  bool full = false;        // a full dump; else the state comes from `checkpoint`
  bool flagged = false;
  uint32_t checkpoint = 0;
  Joint joint = Joint::Unsure;
  bool listed = false;      // user_blocks() has some from here to the next keyframe
  uint64_t lead = 0;        // where user blocks in front of it begin; `offset`: there are none
};

/// Bytes that no block could be made of; or a block of ours that says that something is missing.
struct Gap {
  uint64_t from = 0, to = 0;  // offsets
  uint64_t seq = 0;           // of the step behind it
  std::string why;
  bool told = false;          // by such a block
  bool zeros = false;         // a page of the file and more, which nobody has written
};

struct UserBlock {
  uint64_t seq = 0;  // of the step behind it
  uint64_t offset = 0;
  uint8_t type = 0;
  uint64_t size = 0;
};

/// User blocks that are not kept: there are too many of them, or they are too large.
struct LeftOut {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

}  // namespace tracewell::formats::trace64
