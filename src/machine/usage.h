// Which registers an x86 instruction reads and writes: what its result depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace tracewell::machine {

struct RegisterUse {
  std::string name;         // as target descriptions spell the widest one: rax (eax), xmm3, ymm3h
  uint32_t first_byte = 0;  // the part that is read: 1 for ah
  uint32_t bytes = 0;       // 0 = all
  bool reads = false;
  bool writes = false;
};

struct Usage {
  std::vector<RegisterUse> registers;  // without the flags and the program counter
  uint64_t flags_read = 0;             // bits of eflags
  uint64_t flags_written = 0;
  bool known = false;                  // false: not an instruction
};

/// `address_bytes` is 8 for 64-bit code, 4 for 32-bit code. What an instruction reads without
/// depending on it (xor eax, eax) is not counted. System calls and such do more than is told here.
Usage usage_of(Bytes opcode, uint32_t address_bytes);

/// A part of a general register that has a name of its own: al, ah, ax, eax, r8d.
struct RegisterPart {
  std::string in[2];  // of 64-bit programs, of 32-bit ones ("" = they have no such part)
  uint32_t first_byte = 0;  // from the least significant one
  uint32_t bytes = 0;
};
/// nullopt when it is no such name.
std::optional<RegisterPart> register_part(std::string_view name);

}  // namespace tracewell::machine
