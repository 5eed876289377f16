// CollectPlan: a tracepoint's texts, understood and checked once, so that a hit only does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/engine/markers.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/registers.h"
#include "agent/buffer/frame_record.h"
#include "rsp/actions.h"

namespace tracewell::agent {

/// Which registers a hit's frame has.
struct RegisterMask {
  bool all = true;
  uint8_t bits[ring::kMaskRegisters / 8] = {};  // by index in the layout

  void mark(FrameRecord& record) const;
};

struct CollectPlan {
  std::vector<uint8_t> condition;  // verified; empty = always
  std::vector<rsp::Action> actions;
  std::vector<rsp::Action> step_actions;
  std::vector<uint32_t> variables;  // that its expressions speak of
  RegisterMask mask, step_mask;     // of both lists of actions, once the machine is known
  MarkerData marker;                // of a static tracepoint, once a process is traced
  uint64_t semaphore = 0;           // of its probe, raised while the trace runs; 0 = none
};

/// "tracepoint 1 at 0x401000"
std::string name_of(const TracepointDef& one);

/// The definition's condition alone. Errors name the tracepoint, what is wrong and where, so that
/// a debugger's user can tell which command to blame.
Result<CollectPlan> plan_condition(const TracepointDef& definition);
/// Adds actions (or, `stepping`, those of while-stepping) to the plan.
Status plan_actions(const TracepointDef& definition, const std::vector<std::string>& texts,
                    bool stepping, CollectPlan& plan);

/// What the R actions among these ask for, together, and the program counter, which says where the
/// frame is. Who asks for the stack pointer or the frame pointer gets both: GDB takes a frame with
/// one of them for one that can be unwound, and gdbserver has always had both.
RegisterMask register_mask(const std::vector<rsp::Action>& actions, const RegisterLayout& layout);

}  // namespace tracewell::agent
