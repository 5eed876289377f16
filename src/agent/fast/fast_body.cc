#include "agent/fast/fast_body.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "axjit/hit_body.h"
#include "target/trap_reason.h"

namespace tracewell::agent {
namespace {

constexpr std::array<std::string_view, 16> kGeneral = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                       "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                       "r12", "r13", "r14", "r15"};
constexpr uint64_t kMemoryBlockHead = 11, kMemoryMax = 0xffff, kVectorHead = 69;
constexpr uint64_t kVariableBlockBytes = 13;

using target::because;
using target::TrapReason;

/// One that a hit has without a look at the vector state.
bool is_general(const Register* one) {
  constexpr std::string_view kOthers[] = {"rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs",
                                          "fs_base", "gs_base", "orig_rax"};
  return one == nullptr || std::ranges::find(kGeneral, one->name) != kGeneral.end() ||
         std::ranges::find(kOthers, one->name) != std::end(kOthers);
}

/// Bytes of a record for so much memory.
uint64_t memory_room(uint64_t bytes) {
  return bytes + (bytes / kMemoryMax + 1) * kMemoryBlockHead;
}

/// The most that the expression collects; nullopt where that cannot be told beforehand.
std::optional<uint64_t> most_collected(ax::Code code) {
  uint64_t sum = 0;
  std::optional<uint64_t> constant;
  ax::Instruction one;
  for (size_t at = 0; at < code.size(); at += one.size) {
    if (ax::decode(code, at, one) != ax::Fault::None) return std::nullopt;
    using Opcode = ax::Opcode;
    const Opcode opcode = one.opcode();
    if (opcode == Opcode::op_trace || opcode == Opcode::op_tracenz) {
      if (!constant) return std::nullopt;
      sum += memory_room(*constant);
    } else if (opcode == Opcode::op_trace_quick || opcode == Opcode::op_trace16) {
      sum += memory_room(one.operand);
    }
    if (opcode == Opcode::op_tracev) sum += kVariableBlockBytes;
    const bool is_constant = opcode == Opcode::op_const8 || opcode == Opcode::op_const16 ||
                             opcode == Opcode::op_const32 || opcode == Opcode::op_const64;
    constant = is_constant ? std::optional<uint64_t>(one.operand) : std::nullopt;
  }
  return sum;
}

}  // namespace

bool FastBody::only_memory() const {
  constexpr uint64_t kMost = 256;
  uint64_t sum = 0;
  for (const tracewell_step& step : steps) {
    if (step.kind != TRACEWELL_STEP_MEMORY || step.bytes > kMost) return false;
    sum += step.bytes;
  }
  return sum <= kMost;
}

std::vector<axjit::RegisterPlace> fast_registers(const RegisterLayout& layout) {
  std::vector<axjit::RegisterPlace> places;
  for (uint32_t i = 0; i < kGeneral.size(); ++i)
    if (const Register* one = layout.find(kGeneral[i]))
      places.push_back(axjit::place_in_hit(one->number, i));
  if (const Register* one = layout.find("rip"))
    places.push_back(axjit::place_in_hit(one->number, axjit::kRip));
  if (const Register* one = layout.find("eflags"))
    places.push_back(axjit::place_in_hit(one->number, axjit::kEflags));
  return places;
}

/// Once, where the first action wants some. Who asked for a fast tracepoint gets vectors only if an
/// action wants one of them, since they take four times as long as all else; a frame of others has
/// every register, as at a stop.
void FastBodyMaker::add_registers(const CollectPlan& plan, bool asked_for) {
  if (std::ranges::find(body_.steps, TRACEWELL_STEP_GENERAL, &tracewell_step::kind) !=
      body_.steps.end())
    return;
  body_.registers = true;
  body_.steps.push_back({TRACEWELL_STEP_GENERAL, TRACEWELL_NO_REGISTER, 0, 0});
  body_.room += 1 + sizeof(tracewell_general);
  bool vectors = !asked_for;
  for (const rsp::Action& action : plan.actions)
    for (uint32_t number = 0; number < action.register_mask.size() * 8; ++number)
      if ((action.register_mask[number / 8] >> number % 8 & 1) != 0)
        vectors |= !is_general(layout_.by_number(number));
  if (!vectors || processor_.vector_bytes == 0) return;
  body_.steps.push_back({TRACEWELL_STEP_VECTOR, TRACEWELL_NO_REGISTER,
                         processor_.vector_components, processor_.vector_bytes});
  body_.room += kVectorHead + processor_.vector_bytes;
}

Status FastBodyMaker::add_memory(const rsp::Action& action) {
  if (action.length == 0) return {};
  tracewell_step step{TRACEWELL_STEP_MEMORY, TRACEWELL_NO_REGISTER, action.offset, action.length};
  if (action.base_register >= 0) {
    const Register* const base =
        layout_.by_number(static_cast<uint32_t>(action.base_register));
    const auto found = base == nullptr ? kGeneral.end() : std::ranges::find(kGeneral, base->name);
    if (found != kGeneral.end()) step.base = static_cast<uint32_t>(found - kGeneral.begin());
    else if (base != nullptr && base->name == "rip") step.base = TRACEWELL_REGISTER_RIP;
    else return because(TrapReason::BaseRegister);
    body_.registers = true;
  }
  body_.steps.push_back(step);
  body_.room += memory_room(action.length);
  return {};
}

Status FastBodyMaker::add_expression(const rsp::Action& action) {
  TW_ASSIGN_OR_RETURN(const axjit::Needs needs, axjit::survey(action.code, ax::Purpose::Action));
  const auto most = needs.loops ? std::nullopt : most_collected(action.code);
  if (!most) return because(TrapReason::Size);
  body_.steps.push_back({TRACEWELL_STEP_EXPRESSION, TRACEWELL_NO_REGISTER, 0, 0});
  body_.expressions.emplace_back(action.code);
  body_.room += *most;
  return {};
}

Status FastBodyMaker::take_variables(const axjit::Needs& needs) {
  using Place = axjit::VariablePlace;
  for (const uint32_t number : needs.variables) {
    const auto known = std::ranges::find(body_.variables, number, &Place::number);
    if (known != body_.variables.end()) continue;
    const auto cell = variables_.cell(number);
    if (!cell && !variables_.is_builtin(number))
      return because(TrapReason::Variables);
    body_.variables.push_back(cell ? Place{number, Place::Kind::Cell,
                                          *cell * static_cast<uint32_t>(sizeof(uint64_t))}
                                  : Place{number, Place::Kind::Computed, 0});
  }
  return {};
}

Status FastBodyMaker::add(const rsp::Action& action, const CollectPlan& plan, bool asked_for) {
  switch (action.kind) {
    case rsp::Action::Kind::Registers: add_registers(plan, asked_for); return {};
    case rsp::Action::Kind::Memory: return add_memory(action);
    case rsp::Action::Kind::Expression: return add_expression(action);
    case rsp::Action::Kind::StaticData: break;
  }
  return because(TrapReason::StaticText);
}

Status FastBodyMaker::take_needs(ax::Code code, ax::Purpose purpose) {
  TW_ASSIGN_OR_RETURN(const axjit::Needs needs, axjit::survey(code, purpose));
  TW_RETURN_IF_ERROR(take_variables(needs));
  if (needs.prints) return because(TrapReason::Prints);
  for (const uint32_t number : needs.registers)
    if (std::ranges::find(places_, number, &axjit::RegisterPlace::number) == places_.end())
      return because(TrapReason::Register,
                     fmt::format(" {}", number));
  return {};
}

Result<FastBody> FastBodyMaker::make(const CollectPlan& plan, bool asked_for, uint64_t largest) {
  body_ = {};
  for (const rsp::Action& action : plan.actions)
    TW_RETURN_IF_ERROR(add(action, plan, asked_for));
  if (!plan.condition.empty())
    TW_RETURN_IF_ERROR(take_needs(plan.condition, ax::Purpose::Condition));
  for (const ax::Code code : body_.expressions)
    TW_RETURN_IF_ERROR(take_needs(code, ax::Purpose::Action));
  body_.room = (body_.room + TRACEWELL_CELL - 1) / TRACEWELL_CELL * TRACEWELL_CELL;
  if (body_.room > largest)
    return because(TrapReason::Room, fmt::format(" {} bytes", body_.room));
  return std::move(body_);
}

}  // namespace tracewell::agent
