#include "agent/engine/variables.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace tracewell::agent {

namespace {

constexpr std::array<std::string_view, Variables::kBuiltins> kNames = {"trace_timestamp",
                                                                       "trace_thread", "trace_cpu"};
/// gdbserver's, and others that nobody else gives away.
constexpr std::array<uint32_t, Variables::kBuiltins> kNumbers = {1, 0x4001, 0x4002};
constexpr uint32_t kSpare = 0x10000;  // what no expression can name

}  // namespace

void Variables::reset() {
  builtins_ = kNumbers;
  definitions_.clear();
  for (size_t i = 0; i < kBuiltins; ++i)
    definitions_.push_back({kNumbers[i], 0, true, std::string(kNames[i])});
  values_.clear();
}

std::optional<Variables::Builtin> Variables::builtin(uint32_t number) const {
  const auto at = std::ranges::find(builtins_, number);
  if (at == builtins_.end()) return std::nullopt;
  return static_cast<Builtin>(at - builtins_.begin());
}

void Variables::rename(Builtin which, uint32_t number) {
  builtins_[which] = number;
  std::ranges::find(definitions_, kNames[which], &VariableDef::name)->number = number;
}

Variables::Value* Variables::find(uint32_t number) {
  const auto at = std::ranges::lower_bound(values_, number, {}, &Value::number);
  return at != values_.end() && at->number == number ? &*at : nullptr;
}

void Variables::mention(uint32_t number) {
  if (is_builtin(number) || find(number) != nullptr) return;
  const auto at = std::ranges::lower_bound(values_, number, {}, &Value::number);
  const auto cell = static_cast<uint32_t>(values_.size());
  store(*values_.insert(at, {number, 0, cell}), 0);
}

void Variables::define(VariableDef definition) {
  const auto name = std::ranges::find(kNames, definition.name);
  if (definition.builtin && name != kNames.end()) {
    const auto which = static_cast<Builtin>(name - kNames.begin());
    if (const auto other = builtin(definition.number); other && *other != which)
      rename(*other, kSpare + *other);
    return rename(which, definition.number);
  }
  // We have no other one that would compute its value. Who gives a builtin one's number to one of
  // his own will name that one anew.
  if (const auto which = builtin(definition.number)) {
    if (definition.builtin) return;
    rename(*which, kSpare + *which);
  }
  definition.builtin = false;
  mention(definition.number);
  set(definition.number, definition.initial_value);
  const auto old = std::ranges::find(definitions_, definition.number, &VariableDef::number);
  if (old != definitions_.end()) *old = std::move(definition);
  else definitions_.push_back(std::move(definition));
}

std::optional<int64_t> Variables::value(uint32_t number, int64_t now_us,
                                        target::HitContext* hit) const {
  if (const auto which = builtin(number)) {
    if (*which == kTimestamp) return now_us;
    if (hit == nullptr) return std::nullopt;
    return *which == kThread ? std::optional(hit->tid()) : hit->processor();
  }
  const Value* found = find(number);
  return found != nullptr ? std::optional(load(*found)) : std::nullopt;
}

void Variables::set(uint32_t number, int64_t value) {
  if (Value* found = find(number)) store(*found, value);
}

bool Variables::replace(uint32_t number, int64_t expected, int64_t value) {
  Value* const found = find(number);
  if (found == nullptr || found->cell >= cells_.size()) {
    set(number, value);
    return true;
  }
  auto was = static_cast<uint64_t>(expected);
  const std::atomic_ref cell(cells_[found->cell]);
  return cell.compare_exchange_strong(was, static_cast<uint64_t>(value));
}

int64_t Variables::load(const Value& value) const {
  if (value.cell >= cells_.size()) return value.value;
  return static_cast<int64_t>(std::atomic_ref(cells_[value.cell]).load());
}

void Variables::store(Value& value, int64_t to) {
  value.value = to;
  if (value.cell < cells_.size())
    std::atomic_ref(cells_[value.cell]).store(static_cast<uint64_t>(to));
}

void Variables::live_in(std::span<uint64_t> cells) {
  come_home();
  cells_ = cells;
  for (Value& value : values_) store(value, value.value);
}

void Variables::come_home() {
  for (Value& value : values_) value.value = load(value);
  cells_ = {};
}

std::optional<uint32_t> Variables::cell(uint32_t number) const {
  const Value* found = is_builtin(number) ? nullptr : find(number);
  if (found == nullptr || found->cell >= cells_.size()) return std::nullopt;
  return found->cell;
}

}  // namespace tracewell::agent
