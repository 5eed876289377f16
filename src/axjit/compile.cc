#include "axjit/compile.h"

#include <algorithm>

#include <fmt/format.h>

#include "axjit/emitter.h"

namespace tracewell::axjit {
namespace {

using ax::Opcode;

// More than any instruction becomes, with its exit: a call brings five values into cells and the
// next target brings them back. A constant is brought into its cell once.
constexpr size_t kBytesForOne = 240;
constexpr size_t kBytesAround = 512;
constexpr size_t kCellOffsetMax = INT32_MAX;

/// The most values that are ever on the stack.
Result<size_t> check_code(ax::Code code, ax::Purpose purpose) {
  const ax::VerifyResult verdict = ax::verify(code, purpose);
  if (verdict.ok()) return size_t{verdict.stack_max};
  char text[128];
  ax::describe(verdict, text, sizeof text);
  return Error{Errc::InvalidArgument, text, verdict.offset};
}

Status check_places(const Surroundings& surroundings) {
  for (const RegisterPlace& place : surroundings.registers) {
    const unsigned size = place.size_bytes;
    if (size != 1 && size != 2 && size != 4 && size != 8)
      return Error{Errc::InvalidArgument,
                   fmt::format("register {} has {} bytes; an expression reads registers of 1, 2, 4 "
                               "or 8: leave it out",
                               place.number, size),
                   {}};
  }
  for (const VariablePlace& place : surroundings.variables) {
    if (place.offset % sizeof(uint64_t) != 0 || place.offset > kCellOffsetMax)
      return Error{Errc::InvalidArgument,
                   fmt::format("variable {} has its cell at {}; cells are aligned to 8 and below "
                               "2 GiB",
                               place.number, place.offset),
                   {}};
  }
  return {};
}

void sort_unique(std::vector<uint32_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
}

FrameUse whole_frame(size_t cells) {
  FrameUse frame;
  frame.slots.fill(true);
  frame.cells = cells;
  return frame;
}

}  // namespace

Result<Needs> survey(ax::Code code, ax::Purpose purpose) {
  TW_RETURN_IF_ERROR(check_code(code, purpose));
  const Flow flow = follow(code);
  Needs needs;
  needs.loops = flow.loops;
  for (const size_t offset : flow.reached) {
    ax::Instruction instruction;
    TW_CHECK(ax::decode(code, offset, instruction) == ax::Fault::None);
    const auto number = static_cast<uint32_t>(instruction.operand);
    const Opcode opcode = instruction.opcode();
    if (opcode == Opcode::op_reg) needs.registers.push_back(number);
    if (opcode == Opcode::op_getv || opcode == Opcode::op_setv || opcode == Opcode::op_tracev)
      needs.variables.push_back(number);
    needs.records |= instruction.info->group == ax::Group::Trace;
    needs.prints |= instruction.info->group == ax::Group::Print;
  }
  sort_unique(needs.registers);
  sort_unique(needs.variables);
  return needs;
}

// Twice: what of the stack is needed is known afterwards, and mostly that is nothing.
Result<Native> compile(ax::Code code, ax::Purpose purpose, const Surroundings& surroundings) try {
  TW_ASSIGN_OR_RETURN(const size_t stack_max, check_code(code, purpose));
  TW_RETURN_IF_ERROR(check_places(surroundings));
  const Flow flow = follow(code);
  std::vector<uint8_t> buffer(kBytesAround + code.size() + kBytesForOne * flow.reached.size());
  Emitter first(code, flow, surroundings, whole_frame(stack_max), buffer);
  first.emit();
  Emitter second(code, flow, surroundings, first.used(), buffer);
  second.emit();
  Native native = second.result();
  native.code.assign(buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(second.size_bytes()));
  return native;
} catch (const Xbyak::Error& error) {
  return Error{Errc::Limit, fmt::format("cannot be compiled: {}", error.what()), {}};
}

}  // namespace tracewell::axjit
