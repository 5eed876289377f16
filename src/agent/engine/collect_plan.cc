#include "agent/engine/collect_plan.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "ax/decode.h"
#include "ax/verify.h"
#include "base/bytes.h"

namespace tracewell::agent {

namespace {

std::string opcode_name(const ax::VerifyResult& verdict) {
  const ax::OpcodeInfo* info = ax::opcode_info(verdict.opcode);
  return info != nullptr ? info->name : fmt::format("opcode 0x{:02x}", verdict.opcode);
}

Status check_code(const TracepointDef& definition, Bytes code, ax::Purpose purpose) {
  const ax::VerifyResult verdict = ax::verify(code, purpose);
  if (verdict.ok()) return {};
  return {Errc::InvalidArgument,
          fmt::format("tracepoint {} at 0x{:x}: {} at byte {} ({}) of {}", definition.number,
                      definition.address, ax::fault_text(verdict.fault), verdict.offset,
                      opcode_name(verdict),
                      purpose == ax::Purpose::Condition ? "its condition" : "an action")};
}

void note_variables(Bytes code, std::vector<uint32_t>& variables) {
  ax::Instruction at;
  for (size_t next = 0; ax::decode(code, next, at) == ax::Fault::None; next += at.size) {
    const ax::Opcode opcode = at.opcode();
    if (opcode == ax::Opcode::op_getv || opcode == ax::Opcode::op_setv ||
        opcode == ax::Opcode::op_tracev)
      variables.push_back(static_cast<uint32_t>(at.operand));
  }
}

/// The stack and the frame pointer, in every target description.
bool points_to_frame(const Register& reg) { return reg.type == "data_ptr"; }

}  // namespace

std::string name_of(const TracepointDef& one) {
  return fmt::format("tracepoint {} at 0x{:x}", one.number, one.address);
}

Result<CollectPlan> plan_condition(const TracepointDef& definition) {
  CollectPlan plan;
  if (definition.condition.empty()) return plan;
  TW_RETURN_IF_ERROR(check_code(definition, definition.condition, ax::Purpose::Condition));
  plan.condition = definition.condition;
  note_variables(plan.condition, plan.variables);
  return plan;
}

Status plan_actions(const TracepointDef& definition, const std::vector<std::string>& texts,
                    bool stepping, CollectPlan& plan) {
  for (const std::string& text : texts) {
    auto parsed = rsp::parse_actions(text);
    if (!parsed)
      return std::move(parsed).error().within(
          name_of(definition));
    for (rsp::Action& action : *parsed) {
      if (action.kind == rsp::Action::Kind::Expression) {
        TW_RETURN_IF_ERROR(check_code(definition, action.code, ax::Purpose::Action));
        note_variables(action.code, plan.variables);
      }
      (stepping ? plan.step_actions : plan.actions).push_back(std::move(action));
    }
  }
  return {};
}

void RegisterMask::mark(FrameRecord& record) const {
  record.masked = all ? 0 : 1;
  if (!all) std::memcpy(record.mask, bits, sizeof bits);
}

RegisterMask register_mask(const std::vector<rsp::Action>& actions, const RegisterLayout& layout) {
  std::set<uint32_t> wanted;  // by the protocol's number
  if (layout.pc() != nullptr) wanted.insert(layout.pc()->number);
  for (const rsp::Action& action : actions) {
    for (uint32_t i = 0; i < action.register_mask.size() * 8; ++i)
      if ((action.register_mask[i / 8] >> (i % 8) & 1) != 0) wanted.insert(i);
  }
  const auto asked_for = [&](const Register& reg) { return wanted.contains(reg.number); };
  const bool frame = std::ranges::any_of(layout.registers, [&](const Register& reg) {
    return points_to_frame(reg) && asked_for(reg);
  });
  RegisterMask mask;
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    const Register& reg = layout.registers[i];
    if (!asked_for(reg) && !(frame && points_to_frame(reg))) mask.all = false;
    else if (i < ring::kMaskRegisters) mask.bits[i / 8] |= static_cast<uint8_t>(1u << i % 8);
  }
  return mask;
}

}  // namespace tracewell::agent
