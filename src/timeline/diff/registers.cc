#include "timeline/diff/registers.h"

#include "model/register_names.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kPairsFree = uint64_t{1} << 30, kPairsPerStep = 2048;

}  // namespace

RegisterPairs::RegisterPairs(const DiffSide& a, const DiffSide& b)
    : a_(a), b_(b), left_(kPairsFree + kPairsPerStep * (a.steps.count() + b.steps.count())) {}

const std::vector<RegisterPairs::Pair>& RegisterPairs::all() {
  if (found_) return pairs_;
  found_ = true;
  const RegisterLayout& layout_a = a_.catalog.registers;
  const RegisterLayout& layout_b = b_.catalog.registers;
  const RegisterNames names_b(layout_b);
  for (uint32_t i = 0; i < layout_a.registers.size(); ++i) {
    if (layout_a.pc_index == i) continue;  // that is the place
    const Register& one = layout_a.registers[i];
    const auto index = names_b.index(one.name);
    if (!index) continue;
    const Register& other = layout_b.registers[*index];
    if (other.size_bytes == one.size_bytes) pairs_.push_back({&one, &other, i, *index});
  }
  return pairs_;
}

}  // namespace tracewell::timeline
