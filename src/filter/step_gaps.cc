#include "filter/step_gaps.h"

#include <utility>

namespace tracewell::filter {

void StepGaps::merge(Values& into, std::span<const Step::RegisterChange> changes) {
  // What changed to an unknown value is told by the thread's next step.
  for (const Step::RegisterChange& change : changes)
    if (!change.value.empty()) into[change.index].assign(change.value.begin(), change.value.end());
}

void StepGaps::dropped(const Event& event) {
  if (const auto* step = std::get_if<Step>(&event.body)) {
    Thread& thread = by_thread_[event.tid];
    merge(thread.values, step->before);
    merge(thread.values, step->registers);
    ++thread.dropped;
  }
}

uint64_t StepGaps::kept(Event& event, Batch& batch) {
  if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) by_thread_.clear();
  auto* step = std::get_if<Step>(&event.body);
  if (!step) return 0;
  Thread& thread = by_thread_[event.tid];
  const uint64_t dropped = thread.any_kept ? thread.dropped : 0;
  thread.any_kept = true;
  if (std::exchange(thread.dropped, 0) == 0) return 0;
  merge(thread.values, step->before);
  std::vector<Step::RegisterChange> before;
  before.reserve(thread.values.size());
  for (const auto& [index, value] : thread.values)
    before.push_back({index, batch.copy(Bytes(value))});
  step->before = batch.copy_array(std::span<const Step::RegisterChange>(before));
  thread.values.clear();
  return dropped;
}

}  // namespace tracewell::filter
