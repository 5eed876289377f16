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

bool Code::inside(uint64_t address) const {
  constexpr uint64_t kLongest = 15;
  if (starts(address) || entered(address)) return false;
  for (uint64_t back = 1; back < kLongest; ++back)
    if (length(address - back) > back) return true;
  return false;
}

bool Code::assume(uint64_t address) {
  if (starts(address)) return true;
  constexpr uint64_t kLongest = 15;
  const uint8_t bytes = machine::decode_code(bytes_at(address), address).length;
  if (bytes == 0) return false;
  for (uint64_t back = 1; back < kLongest; ++back)
    if (length(address - back) > back) return false;
  for (uint64_t at = address; at < address + bytes; ++at)
    if (has(at, kStart | kPadding | kKept)) return false;
  flags_[address - address_] |= kStart | kEntered;
  return true;
}

}  // namespace tracewell::pads
