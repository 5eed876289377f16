#include "machine/described.h"

#include <algorithm>

#include "machine/tdesc.h"
#include "model/problem.h"
#include "model/register_names.h"

namespace tracewell::machine {

DescribedRegisters::DescribedRegisters(const Catalog& catalog) : recorded_(catalog.registers) {
  ProblemLog ignored;  // whoever read the trace has told
  layout_ = parse_tdesc(catalog.target_description, ignored).registers;
  if (layout_.empty()) layout_ = recorded_;
  const RegisterNames names(recorded_);
  for (const Register& one : layout_.registers) {
    auto index = names.index(one.name);
    if (index && recorded_.registers[*index].size_bytes != one.size_bytes) index.reset();
    from_.push_back(index);
  }
}

void DescribedRegisters::copy(const RegisterState& from, std::span<uint8_t> block) const {
  std::ranges::fill(block, uint8_t{0});
  for (size_t i = 0; i < from_.size(); ++i) {
    if (!from_[i]) continue;
    const Register& one = recorded_.registers[*from_[i]];
    std::copy_n(from.block.begin() + one.offset, one.size_bytes,
                block.begin() + layout_.registers[i].offset);
  }
}

std::vector<uint8_t> DescribedRegisters::known(const RegisterState& from) const {
  std::vector<uint8_t> out((layout_.registers.size() + 7) / 8);
  for (size_t i = 0; i < from_.size(); ++i)
    if (from_[i] && from.is_valid(*from_[i])) out[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
  return out;
}

}  // namespace tracewell::machine
