#include "formats/trace64_generation.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "machine/operands.h"

namespace tracewell::formats::trace64 {
namespace {

using Stack = machine::Instruction::Stack;

constexpr uint64_t kBlocksMax = 20000;
constexpr int kEnough = 16;  // pushes that speak the same way

class Detective {
 public:
  Detective(Bytes file, const Scan& scan)
      : file_(file), scan_(scan), shape_(scan.shape()), decoder_(shape_.wide) {}

  Generation find() {
    if (scan_.keyframes().empty()) return found_;
    uint64_t at = scan_.keyframes().front().offset;
    const uint64_t end = scan_.gaps().empty() ? scan_.end() : scan_.gaps().front().from;
    const uint64_t session_end = scan_.sessions().size() > 1 ? scan_.sessions()[1] : UINT64_MAX;
    Block block;
    for (uint64_t i = 0; i < std::min(kBlocksMax, session_end) && at < end; at += block.size) {
      if (read_block(file_, at, shape_, scan_.is_hidden(at), block) != Reading::Whole) break;
      if (block.is_user()) continue;
      look_at_words(block, i++ == 0);
      state_.apply(block, shape_);
      look_at_stack(block);
      remember(block);
    }
    found_.push_decided = right_ != wrong_;
    if (right_ > wrong_) found_.push_old_wrong = false;
    if (!found_.push_decided && found_.leave_bare && !found_.leave_entries) {
      found_.push_old_wrong = false;
      found_.push_decided = true;
    }
    found_.minimal = !repeats_ && unannounced_;
    return found_;
  }

 private:
  /// x64dbg announces a change in the block before, with the value that is about to go.
  void look_at_words(const Block& block, bool first) {
    std::bitset<kWordsMax> listed;
    uint32_t word = 0;
    for (uint32_t i = 0; i < block.register_count; ++i, ++word) {
      word += block.positions[i];
      listed.set(word);
      if (first || block.is_full(shape_)) continue;
      const uint64_t value =
          load_uint(block.values + i * shape_.word, shape_.word, Endian::Little);
      if (state_.valid[word] && state_.word(word, shape_) == value)
        repeats_ = true;
      else if (!listed_[word])
        unannounced_ = true;
    }
    listed_ = listed;
  }

  uint64_t word_at(const uint8_t* words, uint32_t entry) const {
    return load_uint(words + entry * shape_.word, shape_.word, Endian::Little);
  }

  void look_at_stack(const Block& block) {
    const machine::Instruction& one = decoder_.decode(block.opcode);
    const uint64_t sp = state_.word(4, shape_);
    const uint64_t slot = shape_.wide ? sp - 8 : (sp - 4) & UINT32_MAX;
    const uint32_t count = block.memory_count;
    if (one.stack == Stack::Leave && state_.valid[5]) {
      (count == 0 ? found_.leave_bare : found_.leave_entries) = true;
      return;
    }
    if ((one.stack != Stack::Push && one.stack != Stack::Call) || count == 0) return;
    if (word_at(block.addresses, count - 1) != slot) return;
    if (count >= 2 && word_at(block.addresses, count - 2) == sp) {
      found_.both_entries = true;
      ++right_;
      return;
    }
    const uint64_t stored = word_at(block.old_words, count - 1);
    const auto at_slot = memory_.find(slot);
    const auto at_sp = memory_.find(sp);
    const bool is_slot = at_slot != memory_.end() && at_slot->second == stored;
    const bool is_sp = at_sp != memory_.end() && at_sp->second == stored;
    if (is_slot == is_sp) return;
    if (is_slot && right_ < kEnough) ++right_;
    if (is_sp && wrong_ < kEnough) ++wrong_;
  }

  void remember(const Block& block) {
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < block.memory_count; ++i) {
      const bool changed = (block.memory_flags[i] & 1) == 0;
      memory_[word_at(block.addresses, i)] =
          changed ? word_at(block.new_words, fresh++) : word_at(block.old_words, i);
    }
  }

  Bytes file_;
  const Scan& scan_;
  const Shape& shape_;
  machine::InstructionDecoder decoder_;
  WordState state_;
  std::bitset<kWordsMax> listed_;
  std::unordered_map<uint64_t, uint64_t> memory_;  // word by address
  Generation found_;
  int right_ = 0, wrong_ = 0;
  bool repeats_ = false, unannounced_ = false;
};

}  // namespace

Generation find_generation(Bytes file, const Scan& scan) { return Detective(file, scan).find(); }

std::string describe(const Generation& generation, const Scan& scan) {
  if (generation.minimal) return "not x64dbg: only words that change are listed";
  std::string since, until;
  if (generation.both_entries) {
    since = until = "June 2024";
  } else if (generation.push_decided && generation.push_old_wrong) {
    since = "June 2024";
  } else if (generation.push_decided) {
    until = "June 2024";
  } else if (generation.leave_entries) {
    since = "June 2024";
  }
  const bool bare_dump =
      std::any_of(scan.keyframes().begin(), scan.keyframes().end(),
                  [](const Keyframe& one) { return one.full && !one.flagged; });
  if (bare_dump) since = "May 2026";
  if (!scan.hidden().empty() && until.empty()) until = "August 2026";
  if (scan.hidden().empty() && scan.threads().size() > 1) since = "August 2026, or put right";
  if (since.empty() && until.empty()) return "x64dbg, not known when";
  if (since == until) return "x64dbg, " + since;
  if (since.empty()) return "x64dbg, before " + until;
  return "x64dbg, " + since + (until.empty() ? " or later" : " to " + until);
}

}  // namespace tracewell::formats::trace64
