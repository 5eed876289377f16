// What a tracepoint's collection becomes for code in the process: steps, expressions, and how much
// room they need. Not everything can be done there; who asks for the rest gets a trap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/engine/collect_plan.h"
#include "agent/engine/variables.h"
#include "ax/decode.h"
#include "ax/hit.h"
#include "axjit/compile.h"
#include "base/result.h"
#include "model/registers.h"
#include "ring/frame_ring.h"
#include "target/fast_sites.h"

namespace tracewell::agent {

struct FastBody {
  std::vector<tracewell_step> steps;
  std::vector<ax::Code> expressions;  // of the steps that are some, in order; the plan's bytes
  std::vector<axjit::VariablePlace> variables;
  uint64_t room = sizeof(tracewell_frame_record);  // of a record without a fault, at most
  bool registers = false;                    // any of them

  /// So little that it pays to have code for it.
  bool only_memory() const;
};

/// Where code finds the registers that it has, by the layout's numbers.
std::vector<axjit::RegisterPlace> fast_registers(const RegisterLayout& layout);

/// All arguments are borrowed.
class FastBodyMaker {
 public:
  FastBodyMaker(const RegisterLayout& layout, const std::vector<axjit::RegisterPlace>& places,
                const target::FastSites::Processor& processor, const Variables& variables)
      : layout_(layout), places_(places), processor_(processor), variables_(variables) {}

  /// `asked_for`: by `ftrace`. Unsupported, with the reason: it cannot be done in the process, or
  /// may need more than `largest` bytes.
  Result<FastBody> make(const CollectPlan& plan, bool asked_for, uint64_t largest);

 private:
  Status add(const rsp::Action& action, const CollectPlan& plan, bool asked_for);
  void add_registers(const CollectPlan& plan, bool asked_for);
  Status add_memory(const rsp::Action& action);
  Status add_expression(const rsp::Action& action);
  Status take_needs(ax::Code code, ax::Purpose purpose);
  Status take_variables(const axjit::Needs& needs);

  const RegisterLayout& layout_;
  const std::vector<axjit::RegisterPlace>& places_;
  const target::FastSites::Processor& processor_;
  const Variables& variables_;
  FastBody body_;
};

}  // namespace tracewell::agent
