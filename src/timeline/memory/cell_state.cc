#include "timeline/memory/cell_state.h"

namespace tracewell::timeline {

ByteMask differing(const CellContent& one, const CellContent& other) {
  const auto both = static_cast<ByteMask>(one.known & other.known);
  const uint64_t bits = (one.value ^ other.value) & wide_mask(both);
  ByteMask out = 0;
  for (unsigned i = 0; bits != 0 && i < kCellBytes; ++i)
    if ((bits >> (8 * i) & 0xff) != 0) out |= static_cast<ByteMask>(1u << i);
  return out;
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
