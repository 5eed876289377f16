#include "pads/code.h"

#include "machine/code_instruction.h"
#include "pads/code_analysis.h"

namespace tracewell::pads {

Code::Code(const CodeInput& input)
    : address_(input.code.address),
      bytes_(input.code.bytes.begin(), input.code.bytes.end()),
      flags_(input.code.bytes.size()) {
  CodeAnalysis(input, *this).run();
}

Bytes Code::bytes_at(uint64_t address) const {
  if (!range().holds(address)) return {};
  return Bytes(bytes_).subspan(address - address_);
}

uint8_t Code::length(uint64_t address) const {
  if (!starts(address)) return 0;
  return machine::decode_code(bytes_at(address), address).length;
}

}  // namespace tracewell::pads
