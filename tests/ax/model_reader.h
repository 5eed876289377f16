// The model's own reading of the bytes, by numeric opcode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ax/fault.h"

namespace tracewell::ax::model {

struct Step {
  unsigned code = 0;
  uint64_t operand = 0;
  size_t next = 0;
  std::string text;
};

inline unsigned operand_size(unsigned code) {
  if (code == 0x0d || code == 0x16 || code == 0x22 || code == 0x2a || code == 0x32) return 1;
  if (code == 0x20 || code == 0x21 || code == 0x23 || code == 0x26 || code == 0x30) return 2;
  if (code >= 0x2c && code <= 0x2e) return 2;
  return code == 0x24 ? 4 : code == 0x25 ? 8 : code == 0x34 ? 1 : 0;
}

/// Throws a Fault.
inline Step read(const std::vector<uint8_t>& code, size_t at) {
  if (at >= code.size()) throw Fault::MissingEnd;
  Step step{code[at++], 0, 0, {}};
  if (step.code == 0 || step.code == 0x31 || step.code > 0x34) throw Fault::UnrecognizedOpcode;
  const auto number = [&](unsigned size) {
    uint64_t value = 0;
    for (; size > 0; --size) {
      if (at >= code.size()) throw Fault::TruncatedOperand;
      value = value * 256 + code[at++];
    }
    return value;
  };
  step.operand = number(operand_size(step.code));
  if (step.code == 0x34) {
    const uint64_t length = number(2);
    for (uint64_t i = 0; i < length; ++i) step.text += static_cast<char>(number(1));
    if (step.text.empty() || step.text.back() != 0) throw Fault::UnterminatedString;
    step.text.pop_back();
  }
  step.next = at;
  return step;
}

}  // namespace tracewell::ax::model
