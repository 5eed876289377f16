// Which registers an x86 instruction reads and writes: what its result depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "model/registers.h"

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

/// A part of a general register, or of the pc, that has a name of its own: al, ah, ax, eax, eip.
struct RegisterPart {
  std::string in[2];  // of 64-bit programs, of 32-bit ones ("" = they have no such part)
  uint32_t first_byte = 0;  // from the least significant one
  uint32_t bytes = 0;
};
/// nullopt when it is no such name.
std::optional<RegisterPart> register_part(std::string_view name);

/// A register of a layout, or a part of one.
struct RegisterPlace {
  uint32_t index = 0;       // in the layout
  uint32_t first_byte = 0;  // from the least significant one
  uint32_t bytes = 0;       // 0 = all
  std::string name;         // as the layout spells it, or the part
};
/// Its bytes of those of the whole register, in their order.
Bytes bytes_of(const RegisterPlace& place, Bytes whole, Endian endian);
/// By the layout's name of it, or by that of a part of a general register; A and a are one letter.
/// A name that the layout has as it stands comes first.
std::optional<RegisterPlace> find_register(const RegisterLayout& layout, std::string_view name);

}  // namespace tracewell::machine
