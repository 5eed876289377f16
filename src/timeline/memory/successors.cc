#include "timeline/memory/successors.h"

#include <algorithm>

namespace tracewell::timeline {
namespace {

using machine::Flow;

/// What a return, or an indirect jump or call, reads is where it leads. Nothing where it reads
/// nothing, or more than that, or where nobody knows what it reads.
std::optional<uint64_t> read_target(const Step& step, uint32_t address_bytes) {
  std::optional<uint64_t> target;
  for (const Step::MemoryAccess& access : step.memory) {
    if (access.kind != Step::MemoryAccess::Kind::Read) continue;
    const bool is_address = access.size == address_bytes && access.old_bytes.size() == access.size;
    if (!is_address || target || step.memory_incomplete) return std::nullopt;
    target = load_uint(access.old_bytes.data(), access.size, Endian::Little);
  }
  return target;
}

/// Saved states of the processor are larger, and as large as it has features.
constexpr uint32_t kOperandMax = 64;

/// Does one of the accesses write all that the operand does?
bool is_told(const machine::MemoryOperand& operand, std::span<const Step::MemoryAccess> told) {
  using Kind = Step::MemoryAccess::Kind;
  const bool fixed = operand.size != 0 && operand.size <= kOperandMax && !operand.vector_index;
  return fixed && std::ranges::any_of(told, [&](const Step::MemoryAccess& access) {
           const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
           return writes && access.size >= operand.size;
         });
}

}  // namespace

void Successors::find(const machine::FlowInstruction& flow, const Step& step,
                      uint32_t address_bytes) {
  if (flow.flow == Flow::Unknown || address_bytes == 0) return;
  if (address_bytes == 4) mask_ = UINT32_MAX;
  const uint64_t behind = step.pc + flow.length;
  if (flow.flow == Flow::Onward) {
    anywhere_ = false;
    places_ = {behind, flow.repeats ? step.pc : behind};
    return;
  }
  // A call that goes on behind itself had its callee done in between, unless that is where it is
  // known to lead.
  if (flow.flow == Flow::Call) but_ = behind;
  std::optional<uint64_t> target;
  if (flow.distance)
    target = behind + static_cast<uint64_t>(int64_t{*flow.distance});
  else if (!flow.leaves)  // far ones read more than an address
    target = read_target(step, address_bytes);
  if (!target) return;
  anywhere_ = false;
  places_ = {*target, flow.conditional ? behind : *target};
}

bool may_write_untold(const machine::Instruction& instruction,
                      std::span<const Step::MemoryAccess> told) {
  using Stack = machine::Instruction::Stack;
  const auto operands = instruction.operands();
  // What leaves out accesses and has no operand has some that the decoder does not know. As often
  // as a string instruction was done, as deep as `enter` goes, it writes.
  if (operands.empty() || instruction.stack == Stack::Enter) return true;
  return std::ranges::any_of(operands, [&](const machine::MemoryOperand& one) {
    return one.writes && (instruction.repeats || !is_told(one, told));
  });
}

}  // namespace tracewell::timeline
