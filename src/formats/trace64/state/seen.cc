#include "formats/trace64/state/seen.h"

#include <algorithm>

namespace tracewell::formats::trace64 {
namespace {

constexpr uint32_t kAccessBytesMax = 16 << 10;  // no reader tells of more at a time

}  // namespace

void SeenMemory::put(uint64_t address, uint8_t byte) {
  if (cells_.size() >= kCellsMax && !cells_.contains(address / 8)) cells_.clear();
  Cell& cell = cells_[address / 8];
  cell.bytes[address % 8] = byte;
  cell.known |= static_cast<uint8_t>(1u << (address % 8));
}

void SeenMemory::forget(uint64_t address, uint64_t size) {
  for (uint64_t part = 0; size != 0; address += part, size -= part) {
    part = std::min(8 - address % 8, size);
    const auto at = cells_.find(address / 8);
    if (at == cells_.end()) continue;
    const uint32_t bits = ((1u << part) - 1) << (address % 8);
    at->second.known &= static_cast<uint8_t>(~bits);
  }
}

void SeenMemory::add(std::span<const Step::MemoryAccess> accesses) {
  using Kind = Step::MemoryAccess::Kind;
  for (const Step::MemoryAccess& one : accesses) {
    const bool stays = one.kind == Kind::Read || one.kind == Kind::Nearby;
    const Bytes left = !one.new_bytes.empty() ? one.new_bytes : stays ? one.old_bytes : Bytes();
    if (left.empty() && stays) continue;
    const uint32_t size = std::min(one.size, kAccessBytesMax);
    const auto told = static_cast<uint32_t>(std::min<uint64_t>(size, left.size()));
    for (uint32_t i = 0; i < told; ++i) put(one.address + i, left[i]);
    forget(one.address + told, size - told);
  }
}

bool SeenMemory::find(uint64_t address, uint8_t& byte) const {
  const auto at = cells_.find(address / 8);
  if (at == cells_.end() || (at->second.known >> (address % 8) & 1) == 0) return false;
  byte = at->second.bytes[address % 8];
  return true;
}

}  // namespace tracewell::formats::trace64
