#include "formats/trace64/scan/bases.h"

#include <algorithm>
#include <utility>

namespace tracewell::formats::trace64 {
namespace {

using machine::MemoryOperand;

constexpr size_t kShownMax = 1 << 20;
constexpr size_t kPrefixes = 4;  // that are looked at

}  // namespace

bool SegmentBases::names_gs(Bytes opcode) {
  for (size_t i = 0; i < std::min(opcode.size(), kPrefixes); ++i) {
    if (opcode[i] == 0x65) return true;
    if (!is_prefix(opcode[i])) return false;
  }
  return false;
}

void SegmentBases::show(const Block& block, uint64_t seq, uint32_t tid) {
  if (given_up_) return;
  if (!decoder_) decoder_ = std::make_shared<machine::InstructionDecoder>(shape_.wide);
  const machine::Instruction& instruction = decoder_->decode(block.opcode);
  if (instruction.count == 0) return;
  const MemoryOperand& operand = instruction.memory[0];  // its entry is the first one
  if (operand.segment != MemoryOperand::Segment::Gs || operand.base >= 0 || operand.index >= 0)
    return;
  const uint64_t offset = machine::effective_address(operand, {}, instruction.length);
  const uint64_t base = load_uint(block.addresses, shape_.word, Endian::Little) - offset;
  std::vector<Shown>& list = shown_[tid];
  const uint64_t since = begins_.empty() ? 0 : begins_.back();
  if (!list.empty() && list.back().base == base && list.back().seq >= since) return;
  list.push_back({seq, base});
  given_up_ = ++count_ > kShownMax;
  if (given_up_) shown_.clear();
}

void SegmentBases::take(std::map<uint32_t, std::vector<Shown>> shown, bool given_up) {
  shown_ = std::move(shown);
  given_up_ = given_up;
  for (const auto& [tid, list] : shown_) count_ += list.size();
}

void SegmentBases::drop_from(uint64_t seq) {
  while (!begins_.empty() && begins_.back() >= seq) begins_.pop_back();
  for (auto& [tid, list] : shown_)
    for (; !list.empty() && list.back().seq >= seq; list.pop_back()) --count_;
}

SegmentBases::Span SegmentBases::at(uint32_t tid, uint64_t seq, uint64_t since) const {
  const auto thread = shown_.find(tid);
  if (thread == shown_.end()) return {};
  const std::vector<Shown>& list = thread->second;
  const auto next = std::upper_bound(list.begin(), list.end(), seq,
                                     [](uint64_t at, const Shown& one) { return at < one.seq; });
  Span out;
  if (next != list.end()) out.until = next->seq;
  if (next != list.begin() && next[-1].seq >= since) out.base = next[-1].base;
  return out;
}

}  // namespace tracewell::formats::trace64
