#include "formats/trace64_seen.h"

#include <algorithm>

namespace tracewell::formats::trace64 {
namespace {

constexpr uint32_t kAccessBytesMax = 4096;  // no instruction touches more at a time

}  // namespace

/// nullptr: it is not known any more.
void SeenMemory::put(uint64_t address, const uint8_t* byte) {
  const auto bit = static_cast<uint8_t>(1u << (address % 8));
  if (!byte) {
    const auto at = cells_.find(address / 8);
    if (at != cells_.end()) at->second.known &= static_cast<uint8_t>(~bit);
    return;
  }
  if (cells_.size() >= kCellsMax && !cells_.contains(address / 8)) cells_.clear();
  Cell& cell = cells_[address / 8];
  cell.bytes[address % 8] = *byte;
  cell.known |= bit;
}

void SeenMemory::add(std::span<const Step::MemoryAccess> accesses) {
  using Kind = Step::MemoryAccess::Kind;
  for (const Step::MemoryAccess& one : accesses) {
    const bool stays = one.kind == Kind::Read || one.kind == Kind::Nearby;
    const Bytes left = !one.new_bytes.empty() ? one.new_bytes : stays ? one.old_bytes : Bytes();
    if (left.empty() && stays) continue;
    const uint32_t size = std::min(one.size, kAccessBytesMax);
    for (uint32_t i = 0; i < size; ++i)
      put(one.address + i, i < left.size() ? left.data() + i : nullptr);
  }
}

bool SeenMemory::find(uint64_t address, uint8_t& byte) const {
  const auto at = cells_.find(address / 8);
  if (at == cells_.end() || (at->second.known >> (address % 8) & 1) == 0) return false;
  byte = at->second.bytes[address % 8];
  return true;
}

}  // namespace tracewell::formats::trace64
