// Displaced code: what one x86 instruction does, as a short sequence that can stand somewhere
// else. A debugger that keeps a breakpoint byte over the original runs the copy instead; the copy
// ends in a jump back behind the original.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace tracewell::machine {

/// The longest copy, in bytes.
constexpr size_t kDisplacedBytesMax = 64;

/// The start of an instruction inside a copy: a place where a thread may be found. It tells how to
/// take the thread out of the copy without it noticing.
struct CopyPoint {
  uint8_t offset = 0;   // from the copy's start
  bool done = false;    // the original instruction has happened
  uint64_t pc = 0;      // done: where the original would have gone on
  uint8_t sp_undo = 0;  // not done: add to the stack pointer, then go back to the original
};

struct DisplacedCode {
  enum class How : uint8_t {
    Copy,
    SystemCall,  // must run in place: the kernel looks at its address, and may restart it
    InPlace,     // cannot be decoded, or cannot be moved
  };
  How how = How::InPlace;
  uint8_t length = 0;             // of the original; 0 = not an instruction
  std::vector<uint8_t> code;      // at most kDisplacedBytesMax
  std::vector<CopyPoint> points;  // by ascending offset, the first at 0

  const CopyPoint* find(size_t offset) const;
};

/// `original` holds the instruction at address `from` (and may hold more behind it); the copy will
/// stand at `to`.
DisplacedCode displace_x86_64(Bytes original, uint64_t from, uint64_t to);
/// The same for 32-bit code, which reaches all of its 4 GiB.
DisplacedCode displace_i386(Bytes original, uint64_t from, uint64_t to);

}  // namespace tracewell::machine
