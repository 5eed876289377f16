#include "pads/code.h"

#include "machine/code_instruction.h"

namespace tracewell::pads {

Bytes Code::bytes_at(uint64_t address) const {
  if (!range().holds(address)) return {};
  return sweep_->bytes().subspan(address - range().start);
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
  if (is_empty(address)) return false;
  flags_[address - range().start] |= kStart | kEntered;
  return true;
}

}  // namespace tracewell::pads
