#include "filter/step_gaps.h"

namespace tracewell::filter {

void StepGaps::merge(Values& into, std::span<const Step::RegisterChange> changes) {
  // What changed to an unknown value is told by the thread's next step.
  for (const Step::RegisterChange& change : changes)
    if (!change.value.empty()) into[change.index].assign(change.value.begin(), change.value.end());
}

void StepGaps::dropped(const Event& event) {
  if (const auto* step = std::get_if<Step>(&event.body)) {
    Values& values = by_thread_[event.tid];
    merge(values, step->before);
    merge(values, step->registers);
  }
}

void StepGaps::kept(Event& event, Batch& batch) {
  if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) by_thread_.clear();
  auto* step = std::get_if<Step>(&event.body);
  if (!step) return;
  const auto found = by_thread_.find(event.tid);
  if (found == by_thread_.end()) return;
  Values& values = found->second;
  merge(values, step->before);
  std::vector<Step::RegisterChange> before;
  before.reserve(values.size());
  for (const auto& [index, value] : values) before.push_back({index, batch.copy(Bytes(value))});
  step->before = batch.copy_array(std::span<const Step::RegisterChange>(before));
  by_thread_.erase(found);
}

}  // namespace tracewell::filter
