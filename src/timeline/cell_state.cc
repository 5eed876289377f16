#include "timeline/cell_state.h"

#include <array>

namespace tracewell::timeline {
namespace {

constexpr std::array<uint64_t, 256> wide_masks() {
  std::array<uint64_t, 256> masks = {};
  for (unsigned bytes = 0; bytes < 256; ++bytes)
    for (unsigned i = 0; i < kCellBytes; ++i)
      if (((bytes >> i) & 1) != 0) masks[bytes] |= uint64_t{0xff} << (8 * i);
  return masks;
}
constexpr std::array<uint64_t, 256> kWideMasks = wide_masks();

}  // namespace

uint64_t wide_mask(ByteMask bytes) { return kWideMasks[bytes]; }

ByteMask differing(const CellContent& one, const CellContent& other) {
  const auto both = static_cast<ByteMask>(one.known & other.known);
  const uint64_t bits = (one.value ^ other.value) & wide_mask(both);
  ByteMask out = 0;
  for (unsigned i = 0; bits != 0 && i < kCellBytes; ++i)
    if ((bits >> (8 * i) & 0xff) != 0) out |= static_cast<ByteMask>(1u << i);
  return out;
}

void CellContent::set(ByteMask bytes, uint64_t from) {
  const uint64_t mask = wide_mask(bytes);
  value = (value & ~mask) | (from & mask);
  known |= bytes;
  told |= bytes;
  lost &= static_cast<ByteMask>(~bytes);
}

void CellContent::lose(ByteMask bytes) {
  value &= ~wide_mask(bytes);
  known &= static_cast<ByteMask>(~bytes);
  told &= static_cast<ByteMask>(~bytes);
  lost |= bytes;
}

void CellState::pass(const CellAccess& access, bool lost) {
  const ByteMask bytes = fresh(access);
  if (access.step != step_) {
    before = after;
    step_ = access.step;
    touched_ = left_ = 0;
  }
  if (access.old_value) {
    before.set(bytes, *access.old_value);
    after.set(bytes, *access.old_value);
  } else if (access.old_holds) {
    before.told |= bytes & before.known;
    after.told |= bytes & after.known;
  }
  if (access.new_value) after.set(access.bytes(), *access.new_value);
  if (access.new_holds) after.told |= access.bytes() & after.known;
  if (access.new_value || access.new_holds) left_ |= access.bytes();
  if (lost) {
    after.lose(access.bytes());
    left_ &= static_cast<ByteMask>(~access.bytes());
  }
  if (access.kind != CellAccess::kNearby) touched_ |= access.bytes();
}

}  // namespace tracewell::timeline
