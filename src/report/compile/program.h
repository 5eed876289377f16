// What templates are compiled to: one flat array of instructions for a whole set, and the tables
// that they point into.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/builtins.h"
#include "report/codes.h"
#include "report/compile/diagnostic.h"

namespace tracewell::report {

/// One instruction. Values are passed on a small stack; a value that could not be had sets
/// Context::failed, which whoever takes it looks at.
enum class Op : uint8_t {
  Text,  // index, count: of `texts`; owes: as an item
  NewLine,
  Tab,
  Go,  // use: bytes, bits
  Advance,
  Back,
  GoWord,
  PushNumber,   // number
  PushBuiltin,  // index
  PushSlot,     // index
  PushCode,     // use
  Narrow,       // use: the top as the cast sees it
  And,          // number
  Add,
  Subtract,
  Multiply,
  Divide,
  Print,       // use: pops and prints; owes
  PrintPlain,  // pops; hex, at least four digits
  PrintWord,   // index: that data word, as PrintPlain; owes. What templates do most
  PrintText,   // pops; a text macro
  PrintCode,   // use: reads and prints
  PrintSized,  // pops a length; the text of that length at the pointer
  StoreSlot,   // index; pops
  StoreData,
  StoreBase,
  Jump,         // index: an instruction
  Switch,       // index: of `switches`; pops
  SwitchText,   // index: of `text_switches`; pops
  UnlessFlag,   // index, number: jumps when the top & number is 0
  UnlessField,  // index, count: jumps when the top & fields[count].mask is not its value
  Guard,        // index: jumps there when the top could not be had, and pops it
  Pop,
  Loop,        // index: behind the loop; pops the count
  LoopEnd,     // index: the loop's body
  Call,        // index: of `calls`
  StartTimer,  // pops two
  EndTimer,
  Error,
  Return,
  Break,
  Skip,
  Stop,
  Raw,  // the raw form of the entry
};

struct Instruction {
  Op op = Op::Return;
  bool owes = false;
  CodeUse use;
  uint32_t index = 0;
  uint32_t count = 0;
  uint64_t number = 0;
};

/// Key: int64_t or std::string.
template <class Key>
struct Switch {
  std::vector<std::pair<Key, uint32_t>> targets;  // sorted by key, each once
  uint32_t otherwise = 0;
  uint32_t end = 0;  // behind the switch, for a value that could not be had

  uint32_t target(const auto& value) const {
    const auto at = std::lower_bound(targets.begin(), targets.end(), value,
                                     [](const auto& a, const auto& b) { return a.first < b; });
    return at != targets.end() && at->first == value ? at->second : otherwise;
  }
};

struct Program {
  struct Field {
    uint64_t mask, value;
  };
  struct CallTarget {
    uint16_t hook = 0;
    int32_t begin = -1;  // the callee's first instruction; -1 = there is no such template
    uint32_t slots = 0;  // macros that the callee defines
    Diagnostic missing;  // what to say when there is none
  };

  std::vector<Instruction> code;
  std::string texts;
  std::vector<Switch<int64_t>> switches;
  std::vector<Switch<std::string>> text_switches;
  std::vector<Field> fields;
  std::vector<CallTarget> calls;
};

inline constexpr unsigned kSlotsMax = 255;  // macros that one template defines
inline constexpr unsigned kCallsMax = 10;   // templates that call one another, without the first

}  // namespace tracewell::report
