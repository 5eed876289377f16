#include "formats/trace64/scan/push.h"

#include <cstdlib>

namespace tracewell::formats::trace64 {
namespace {

using Stack = machine::Instruction::Stack;

constexpr uint64_t kJudgedBlocksMax = 20000;  // of a session
constexpr int kEnough = 16;             // votes ahead

}  // namespace

void PushJudge::restart() {
  state_ = {};
  memory_.clear();
  blocks_ = 0;
  slot_ = top_ = 0;
  sure_ = both_entries_ = leave_entries_ = leave_bare_ = false;
}

void PushJudge::add(const Block& block) {
  if (sure_) return;
  state_.apply(block, shape_);
  look(block);
  remember(block);
  sure_ = std::abs(slot_ - top_) >= kEnough || ++blocks_ >= kJudgedBlocksMax;
}

uint64_t PushJudge::word_at(const uint8_t* words, uint32_t entry) const {
  return load_uint(words + entry * shape_.word, shape_.word, Endian::Little);
}

/// Zeros are everywhere, and are no sign that this one is meant.
PushJudge::Fit PushJudge::fit(uint64_t address, uint64_t stored) const {
  const auto at = memory_.find(address);
  if (at == memory_.end()) return Fit::Unknown;
  if (at->second != stored) return Fit::No;
  return stored == 0 ? Fit::Unknown : Fit::Yes;
}

void PushJudge::vote(bool slot) { ++(slot ? slot_ : top_); }

void PushJudge::look(const Block& block) {
  const machine::Instruction& one = decoder_.decode(block.opcode);
  const uint32_t count = block.memory_count;
  if (one.stack == Stack::Leave && state_.valid[5]) {
    (count == 0 ? leave_bare_ : leave_entries_) = true;
    return;
  }
  if ((one.stack != Stack::Push && one.stack != Stack::Call) || count == 0) return;
  const uint64_t mask = shape_.wide ? UINT64_MAX : UINT32_MAX;
  const uint64_t slot = word_at(block.addresses, count - 1);
  const uint64_t sp = (slot + shape_.word) & mask;  // as long as no block has listed it
  if (state_.valid[kSpWord] && state_.word(kSpWord, shape_) != sp) return;
  // `push [sp]` has an entry there, too, but for an operand.
  if (count > one.count && count >= 2 && word_at(block.addresses, count - 2) == sp) {
    both_entries_ = true;
    vote(true);
    return;
  }
  const uint64_t stored = word_at(block.old_words, count - 1);
  const Fit as_slot = fit(slot, stored), as_top = fit(sp, stored);
  if (as_slot != as_top) vote(as_slot > as_top);
}

void PushJudge::remember(const Block& block) {
  uint32_t fresh = 0;
  for (uint32_t i = 0; i < block.memory_count; ++i) {
    const bool changed = fresh < block.new_count && (block.memory_flags[i] & 1) == 0;
    const uint64_t address = word_at(block.addresses, i);
    const uint64_t first = address < shape_.word ? 0 : address - shape_.word + 1;
    auto overlapping = memory_.lower_bound(first);
    while (overlapping != memory_.end() && overlapping->first - first < 2 * shape_.word - 1)
      overlapping = memory_.erase(overlapping);
    memory_[address] = changed ? word_at(block.new_words, fresh++) : word_at(block.old_words, i);
  }
}

/// Memory also changes unseen, so that a few votes are wrong.
PushOld PushJudge::verdict() const {
  if (slot_ > 2 * top_) return PushOld::Slot;
  if (top_ > 2 * slot_) return PushOld::Top;
  const bool old_recorder = slot_ == top_ && leave_bare_ && !leave_entries_;
  return old_recorder ? PushOld::Slot : PushOld::Unknown;
}

}  // namespace tracewell::formats::trace64
