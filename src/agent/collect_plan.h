// CollectPlan: a tracepoint's texts, understood and checked once, so that a hit only does.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "rsp/actions.h"

namespace tracewell::agent {

struct CollectPlan {
  std::vector<uint8_t> condition;  // verified; empty = always
  std::vector<rsp::Action> actions;
  std::vector<rsp::Action> step_actions;
  std::vector<uint32_t> variables;  // that its expressions speak of
};

/// The definition's condition alone. Errors name the tracepoint, what is wrong and where, so that
/// a debugger's user can tell which command to blame.
Result<CollectPlan> plan_condition(const TracepointDef& definition);
/// Adds actions (or, `stepping`, those of while-stepping) to the plan.
Status plan_actions(const TracepointDef& definition, const std::vector<std::string>& texts,
                    bool stepping, CollectPlan& plan);

}  // namespace tracewell::agent
