#include "rsp/actions.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_action(const TextReader& in, std::string_view what) {
  return {Errc::InvalidArgument, std::string(what), in.offset()};
}

Action make_action(Action::Kind kind) {
  Action action;
  action.kind = kind;
  return action;
}

Result<Action> read_registers(TextReader& in) {
  const std::string_view digits = in.take_hex_digits();
  if (digits.empty()) return bad_action(in, "register mask without digits");
  Action action = make_action(Action::Kind::Registers);
  for (size_t end = digits.size(); end > 0; end -= std::min<size_t>(end, 2)) {
    const int low = hex_digit(digits[end - 1]);
    const int high = end > 1 ? hex_digit(digits[end - 2]) : 0;
    action.register_mask.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  while (!action.register_mask.empty() && action.register_mask.back() == 0)
    action.register_mask.pop_back();
  return action;
}

Result<Action> read_memory(TextReader& in) {
  Action action = make_action(Action::Kind::Memory);
  const auto base = in.signed_hex();
  if (!base || *base < -1 || *base > std::numeric_limits<int32_t>::max() || !in.skip(','))
    return bad_action(in, "bad base register of a memory range");
  action.base_register = static_cast<int32_t>(*base);
  const auto offset = in.hex_until(',');
  if (!offset) return bad_action(in, "bad address of a memory range");
  action.offset = *offset;
  const auto length = in.hex();
  if (!length) return bad_action(in, "bad length of a memory range");
  action.length = *length;
  return action;
}

Result<Action> read_expression(TextReader& in) {
  auto code = in.sized_hex_bytes();
  if (!code) return bad_action(in, "bad agent expression");
  Action action = make_action(Action::Kind::Expression);
  action.code = *std::move(code);
  return action;
}

Result<Action> read_action(TextReader& in) {
  if (in.skip('R')) return read_registers(in);
  if (in.skip('M')) return read_memory(in);
  if (in.skip('X')) return read_expression(in);
  if (in.skip('L')) return make_action(Action::Kind::StaticData);
  return bad_action(in, "unknown action");
}

}  // namespace

Result<std::vector<Action>> parse_actions(std::string_view text) {
  TextReader in(text);
  std::vector<Action> actions;
  while (!in.done()) {
    TW_ASSIGN_OR_RETURN(Action action, read_action(in));
    actions.push_back(std::move(action));
  }
  return actions;
}

Result<std::vector<std::string>> split_actions(std::string_view text) {
  TextReader in(text);
  std::vector<std::string> pieces;
  while (!in.done()) {
    const size_t from = in.offset();
    TW_RETURN_IF_ERROR(read_action(in));
    pieces.emplace_back(text.substr(from, in.offset() - from));
  }
  return pieces;
}

std::string format_action(const Action& action) {
  switch (action.kind) {
    case Action::Kind::Registers: {
      const std::vector<uint8_t> msb_first(action.register_mask.rbegin(),
                                           action.register_mask.rend());
      return "R" + (msb_first.empty() ? "00" : to_hex(msb_first));
    }
    case Action::Kind::Memory: {
      const std::string base =
          action.base_register < 0 ? "-1" : fmt::format("{:X}", action.base_register);
      return fmt::format("M{},{:x},{:X}", base, action.offset, action.length);
    }
    case Action::Kind::Expression:
      return fmt::format("X{:08X},{}", action.code.size(), to_hex(action.code));
    case Action::Kind::StaticData: return "L";
  }
  return "";
}

}  // namespace tracewell::rsp
