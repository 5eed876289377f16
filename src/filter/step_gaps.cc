#include "filter/step_gaps.h"

#include <algorithm>
#include <utility>

namespace tracewell::filter {
namespace {

void merge(const RegisterLayout& layout, std::span<const Step::RegisterChange> changes,
           RegisterState& into) {
  // What changed to an unknown value is told by the thread's next step.
  for (const Step::RegisterChange& change : changes)
    if (!change.value.empty()) into.set(layout, change.index, change.value);
}

}  // namespace

void StepGaps::clear() {
  by_thread_.clear();
  told_.clear();
}

void StepGaps::forget_session(const Event& event) {
  if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) clear();
}

void StepGaps::dropped(const RegisterLayout& layout, const Event& event) {
  forget_session(event);
  if (const auto* step = std::get_if<Step>(&event.body)) {
    RegisterState& told = told_.of(layout, event.tid);
    merge(layout, step->before, told);
    merge(layout, step->registers, told);
    ++by_thread_[event.tid].dropped;
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
  merge(layout, step->before, told);
  before_.clear();
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    if (!told.is_valid(i)) continue;
    const Register& one = layout.registers[i];
    before_.push_back({i, batch.copy(Bytes(told.block).subspan(one.offset, one.size_bytes))});
  }
  step->before = batch.copy_array(std::span<const Step::RegisterChange>(before_));
  std::ranges::fill(told.valid, uint8_t{0});
  return dropped;
}

}  // namespace tracewell::filter
