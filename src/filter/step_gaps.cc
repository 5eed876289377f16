#include "filter/step_gaps.h"

#include <algorithm>
#include <utility>

#include "base/begin_anew.h"

namespace tracewell::filter {
namespace {

/// `unknown` has an element for each register, or none while all are false.
void merge(const RegisterLayout& layout, std::span<const Step::RegisterChange> changes,
           RegisterState& into, std::vector<bool>& unknown) {
  for (const Step::RegisterChange& change : changes) {
    into.set(layout, change.index, change.value);
    if (change.value.empty()) unknown.resize(layout.registers.size());
    if (!unknown.empty()) unknown[change.index] = change.value.empty();
  }
}

}  // namespace

void StepGaps::clear() {
  begin_anew(by_thread_);
  told_.clear();
}

void StepGaps::forget_session(const Event& event) {
  if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) clear();
}

void StepGaps::dropped(const RegisterLayout& layout, const Event& event) {
  forget_session(event);
  if (const auto* step = std::get_if<Step>(&event.body)) {
    RegisterState& told = told_.of(layout, event.tid);
    Thread& thread = by_thread_[event.tid];
    merge(layout, step->before, told, thread.unknown);
    merge(layout, step->registers, told, thread.unknown);
    ++thread.dropped;
  }
}

uint64_t StepGaps::kept(const RegisterLayout& layout, Event& event, Batch& batch) {
  forget_session(event);
  auto* step = std::get_if<Step>(&event.body);
  if (!step) return 0;
  Thread& thread = by_thread_[event.tid];
  const uint64_t dropped = thread.any_kept ? thread.dropped : 0;
  thread.any_kept = true;
  if (std::exchange(thread.dropped, 0) == 0) return 0;
  RegisterState& told = told_.of(layout, event.tid);
  merge(layout, step->before, told, thread.unknown);
  before_.clear();
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (!thread.unknown.empty() && thread.unknown[i]) before_.push_back({i, {}});
    if (!told.is_valid(i)) continue;
    const Register& one = layout.registers[i];
    before_.push_back({i, batch.copy(Bytes(told.block).subspan(one.offset, one.size_bytes))});
  }
  step->before = batch.copy_array(std::span<const Step::RegisterChange>(before_));
  std::ranges::fill(told.valid, uint8_t{0});
  thread.unknown.clear();
  return dropped;
}

}  // namespace tracewell::filter
