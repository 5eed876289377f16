#include "filter/expression.h"

#include <compare>

namespace tracewell::filter {

bool Expression::matches(const Event& event) const {
  return holds(root_, event);
}

bool Expression::holds(uint32_t node, const Event& event) const {
  const Node& one = nodes_[node];
  switch (one.op) {
    case Op::Or:
      return holds(one.left, event) || holds(one.right, event);
    case Op::And:
      return holds(one.left, event) && holds(one.right, event);
    case Op::Not:
      return !holds(one.left, event);
    case Op::Exists: {
      const Value value = value_of(operands_[one.left], event);
      return value.there && (value.is_text ? !value.text.empty() : value.number != 0);
    }
    default:
      return compare(one.op, value_of(operands_[one.left], event),
                     value_of(operands_[one.right], event));
  }
}

Expression::Value Expression::value_of(const Operand& operand, const Event& event) const {
  switch (operand.kind) {
    case Operand::Kind::Number:
      return {true, false, operand.negative, operand.number, {}};
    case Operand::Kind::Text:
      return {true, true, false, 0, operand.text};
    case Operand::Kind::Field:
      return field_value(operand.field, event);
    case Operand::Kind::Register:
      return register_value(operand.index, event);
  }
  return {};
}

Expression::Value Expression::field_value(Field field, const Event& event) {
  constexpr std::string_view kKinds[] = {"step", "frame", "hook", "mark", "lost"};
  auto number = [](uint64_t value) { return Value{true, false, false, value, {}}; };
  auto signed_number = [](int64_t value) {
    return Value{true, false, value < 0, static_cast<uint64_t>(value), {}};
  };
  const auto* frame = std::get_if<Frame>(&event.body);
  const auto* step = std::get_if<Step>(&event.body);
  const auto* hook = std::get_if<Hook>(&event.body);
  switch (field) {
    case Field::Seq:
      return number(event.seq);
    case Field::Tid:
      return event.tid != 0 ? number(event.tid) : Value();
    case Field::Cpu:
      return event.cpu >= 0 ? signed_number(event.cpu) : Value();
    case Field::TimeNs:
      return event.time_ns ? signed_number(*event.time_ns) : Value();
    case Field::Tracepoint:
      return frame ? signed_number(frame->tracepoint) : Value();
    case Field::Pc:
      if (step) return number(step->pc);
      return frame && frame->pc ? number(*frame->pc) : Value();
    case Field::Kind:
      return {true, true, false, 0, kKinds[event.body.index()]};
    case Field::Id:
      return hook ? number(hook->id) : Value();
    case Field::Subhook:
      return hook ? number(hook->subhook) : Value();
  }
  return {};
}

Expression::Value Expression::register_value(uint32_t index, const Event& event) const {
  const Register& one = registers_.registers[index];
  Bytes bytes;
  if (const auto* frame = std::get_if<Frame>(&event.body)) {
    const FrameBlock* block = find_block(*frame, FrameBlock::Kind::Registers);
    if (!block || !register_valid(*frame, index) || one.offset > block->bytes.size() ||
        one.size_bytes > block->bytes.size() - one.offset)
      return {};
    bytes = block->bytes.subspan(one.offset, one.size_bytes);
  } else if (const auto* step = std::get_if<Step>(&event.body)) {
    for (const Step::RegisterChange& change : step->before)
      if (change.index == index) bytes = change.value;
    for (const Step::RegisterChange& change : step->registers)
      if (change.index == index) bytes = change.value;
  }
  if (bytes.empty() || bytes.size() > 8) return {};
  return {true, false, false, load_uint(bytes.data(), bytes.size(), endian_), {}};
}

bool Expression::compare(Op op, const Value& left, const Value& right) {
  if (!left.there || !right.there || left.is_text != right.is_text) return false;
  // A negative number is below all others; of one sign, two's complement sorts as it should.
  const auto order = left.is_text                      ? left.text <=> right.text
                     : left.negative != right.negative ? right.negative <=> left.negative
                                                       : left.number <=> right.number;
  switch (op) {
    case Op::Equal:
      return order == 0;
    case Op::NotEqual:
      return order != 0;
    case Op::Less:
      return order < 0;
    case Op::LessEqual:
      return order <= 0;
    case Op::Greater:
      return order > 0;
    case Op::GreaterEqual:
      return order >= 0;
    default:
      return false;
  }
}

}  // namespace tracewell::filter
