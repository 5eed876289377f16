#include "axjit/flow.h"

#include "ax/opcodes.h"
#include "base/check.h"

namespace tracewell::axjit {
namespace {

using ax::Instruction;
using ax::Opcode;

Instruction decoded(ax::Code code, size_t offset) {
  Instruction instruction;
  TW_CHECK(ax::decode(code, offset, instruction) == ax::Fault::None);
  return instruction;
}

int height_after(const Instruction& instruction, int before) {
  return before - static_cast<int>(instruction.pops()) + instruction.info->pushes;
}

void find_heights(ax::Code code, Flow& flow) {
  std::vector<size_t> waiting{0};
  flow.heights[0] = 0;
  const auto arrive = [&](size_t at, int height) {
    if (flow.reaches(at)) return;
    flow.heights[at] = height;
    waiting.push_back(at);
  };
  while (!waiting.empty()) {
    const Instruction instruction = decoded(code, waiting.back());
    waiting.pop_back();
    const Opcode opcode = instruction.opcode();
    if (opcode == Opcode::op_end) continue;
    const int height = height_after(instruction, flow.heights[instruction.offset]);
    if (instruction.is_branch()) {
      flow.targets[instruction.operand] = true;
      flow.loops |= instruction.operand <= instruction.offset;
      arrive(instruction.operand, height);
    }
    if (opcode != Opcode::op_goto) arrive(instruction.offset + instruction.size, height);
  }
}

/// Others can see that it was done, so it must not be done again.
bool has_effect(const Instruction& instruction) {
  const ax::Group group = instruction.info->group;
  return group == ax::Group::Trace || group == ax::Group::Print ||
         instruction.opcode() == Opcode::op_setv;
}

/// From the getv at `get`, the setv of the same variable, where all in between can be done again:
/// no effects, no other way in or out, and no value touched that was on the stack before.
bool find_update(ax::Code code, const Flow& flow, size_t get, Update& update) {
  const Instruction first = decoded(code, get);
  const int floor = flow.heights[get];
  for (size_t at = get + first.size; flow.reaches(at) && !flow.targets[at];) {
    const Instruction instruction = decoded(code, at);
    if (instruction.opcode() == Opcode::op_setv) {
      update = {get, at};
      return instruction.operand == first.operand && flow.heights[at] > floor;
    }
    const int lowest = flow.heights[at] - static_cast<int>(instruction.pops());
    if (has_effect(instruction) || instruction.info->group == ax::Group::Flow || lowest < floor)
      return false;
    at += instruction.size;
  }
  return false;
}

/// The first getv that will do is taken: a value that was read twice is then read twice again.
void find_updates(ax::Code code, Flow& flow) {
  size_t behind = 0;
  for (const size_t at : flow.reached) {
    Update update;
    if (at < behind || decoded(code, at).opcode() != Opcode::op_getv) continue;
    if (!find_update(code, flow, at, update)) continue;
    flow.updates.push_back(update);
    behind = update.set;
  }
}

}  // namespace

const Update* Flow::update_from(size_t get) const {
  for (const Update& update : updates)
    if (update.get == get) return &update;
  return nullptr;
}

const Update* Flow::update_to(size_t set) const {
  for (const Update& update : updates)
    if (update.set == set) return &update;
  return nullptr;
}

Flow follow(ax::Code code) {
  Flow flow;
  flow.heights.assign(code.size(), Flow::kUnreached);
  flow.targets.assign(code.size(), false);
  find_heights(code, flow);
  for (size_t at = 0; at < code.size(); ++at)
    if (flow.reaches(at)) flow.reached.push_back(at);
  find_updates(code, flow);
  return flow;
}

}  // namespace tracewell::axjit
