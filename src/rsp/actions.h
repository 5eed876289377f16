// What a tracepoint collects, as text: the actions of QTDP, `A` and `S` pieces.
//   R<mask>   M<base>,<offset>,<length>   X<length>,<code>   L
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::rsp {

struct Action {
  enum class Kind : uint8_t { Registers, Memory, Expression, StaticData };
  Kind kind = Kind::Registers;
  /// Registers: bit i%8 of byte i/8 = register i of the target description. (The text has the most
  /// significant byte first.) No trailing zero bytes.
  std::vector<uint8_t> register_mask;
  /// Memory: `length` bytes at `offset` + the value of register `base_register`, or at `offset`
  /// when that is -1. Offsets wrap: negative ones come as 64-bit two's complement.
  int32_t base_register = -1;
  uint64_t offset = 0;
  uint64_t length = 0;
  std::vector<uint8_t> code;  // Expression: agent bytecode

  bool operator==(const Action&) const = default;
};

/// Actions that follow each other without separators, as GDB packs them. InvalidArgument (with the
/// offset in the text) at the first thing that is not an action.
Result<std::vector<Action>> parse_actions(std::string_view text);
/// The same text cut into one piece per action, each kept as it was written.
Result<std::vector<std::string>> split_actions(std::string_view text);

/// As GDB writes them: lengths and base registers in upper case, an expression's length in eight
/// digits, the rest in lower case.
std::string format_action(const Action& action);

}  // namespace tracewell::rsp
