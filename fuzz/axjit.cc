// The compiler of agent expressions: byte 0 chooses purpose, how memory is read and what there is
// of registers and variables, the rest is code. What the verifier accepts it must compile within
// its limits, with a table that fits the code; what is refused there it must refuse. (Nothing is
// run here: tests/axjit does that.)
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ax/verify.h"
#include "axjit/compile.h"

namespace {

using namespace tracewell;
using namespace tracewell::axjit;

void require(bool good) {
  if (!good) std::abort();
}

void check(const Native& native) {
  require(!native.code.empty() && native.code.size() < 1u << 20);
  require(native.stack_bytes >= 8 && native.stack_bytes <= 8 * (ax::kStackSlots + 6));
  uint32_t before = 0;
  for (const FaultingLoad& load : native.loads) {
    require(load.load >= before && load.load < native.code.size());
    require(load.resume > load.load && load.resume < native.code.size());
    before = load.load + 1;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> code(data + 1, data + size);
  const uint8_t mode = data[0];
  const auto purpose = (mode & 1) != 0 ? ax::Purpose::Condition : ax::Purpose::Action;
  std::vector<RegisterPlace> registers;
  for (uint32_t number = 0; (mode & 2) != 0 && number < 8; ++number)
    registers.push_back({number, static_cast<int32_t>(number * 8) - 32, uint8_t(1 << number % 4)});
  std::vector<VariablePlace> variables;
  for (uint32_t number = 0; (mode & 4) != 0 && number < 4; ++number)
    variables.push_back({number, number == 3 ? VariablePlace::Kind::Computed
                                             : VariablePlace::Kind::Cell, 8 * number});
  const auto reads = (mode & 8) != 0 ? MemoryReads::Called : MemoryReads::Direct;
  const size_t budget = (mode & 16) != 0 ? 5 : ax::kBudget;

  const bool accepted = ax::verify(code, purpose).ok();
  const auto compiled = compile(code, purpose, {registers, variables, reads, budget});
  require(compiled.ok() == accepted);
  require(survey(code, purpose).ok() == accepted);
  if (compiled.ok()) check(*compiled);
  return 0;
}
