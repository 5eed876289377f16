// Calls a body as a slot in a pad does, with chosen values in all registers, and tells what it
// finds in them afterwards.
#pragma once

#include <cstdint>
#include <cstring>

#include "fast/hit_here.h"

namespace tracewell::fast {

struct Registers {
  uint64_t general[16] = {};  // as instructions number them; [4], the stack pointer, stays out
  uint64_t flags = 0x202;
  alignas(16) uint64_t vector[8] = {};  // xmm0 to xmm3
  uint64_t red_zone[16] = {};
  uint64_t stack_pointer = 0;  // afterwards: what it was, both times

  bool operator==(const Registers& other) const {
    for (int i = 0; i < 16; ++i)
      if (i != 4 && general[i] != other.general[i]) return false;
    return flags == other.flags && std::memcmp(vector, other.vector, sizeof vector) == 0 &&
           std::memcmp(red_zone, other.red_zone, sizeof red_zone) == 0;
  }
};

/// What stands below the stack pointer is `red_zone`, too. Not for threads: the code of the call is
/// made anew for each body.
Registers call_body(uint64_t body, const Registers& before);

}  // namespace tracewell::fast
