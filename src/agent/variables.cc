#include "agent/variables.h"

#include <algorithm>

namespace tracewell::agent {

void Variables::reset() {
  definitions_ = {{kTimestamp, 0, true, "trace_timestamp"}};
  values_.clear();
}

Variables::Value* Variables::find(uint32_t number) {
  const auto at = std::ranges::lower_bound(values_, number, {}, &Value::number);
  return at != values_.end() && at->number == number ? &*at : nullptr;
}

void Variables::mention(uint32_t number) {
  if (number == kTimestamp || find(number) != nullptr) return;
  const auto at = std::ranges::lower_bound(values_, number, {}, &Value::number);
  values_.insert(at, {number, 0});
}

void Variables::define(VariableDef definition) {
  if (definition.number == kTimestamp) return;
  definition.builtin = false;  // we have no other that would compute its value
  mention(definition.number);
  set(definition.number, definition.initial_value);
  const auto old = std::ranges::find(definitions_, definition.number, &VariableDef::number);
  if (old != definitions_.end()) *old = std::move(definition);
  else definitions_.push_back(std::move(definition));
}

std::optional<int64_t> Variables::value(uint32_t number, int64_t now_us) const {
  if (number == kTimestamp) return now_us;
  const Value* found = const_cast<Variables*>(this)->find(number);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

void Variables::set(uint32_t number, int64_t value) {
  if (Value* found = find(number)) found->value = value;
}

}  // namespace tracewell::agent
