#include "pads/code.h"

#include <algorithm>

#include "machine/code_instruction.h"
#include "pads/code_analysis.h"

namespace tracewell::pads {

Code::Code(const CodeInput& input)
    : address_(input.code.address),
      bytes_(input.code.bytes.size()),
      flags_(input.code.bytes.size()) {
  constexpr size_t kPage = ZeroedBytes::kPage;
  for (size_t at = 0; at < bytes_.size(); at += kPage) {
    const Bytes page = input.code.bytes.subspan(at, std::min(kPage, bytes_.size() - at));
    empty_.push_back(bytes_.put(at, page) == 0 && page.size() == kPage);
  }
  unknown_ = CodeAnalysis(input, *this).run();
}

Bytes Code::bytes_at(uint64_t address) const {
  if (!range().holds(address)) return {};
  return bytes_.bytes().subspan(address - address_);
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
  flags_[address - address_] |= kStart | kEntered;
  return true;
}

}  // namespace tracewell::pads
