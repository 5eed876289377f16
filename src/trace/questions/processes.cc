#include "trace/questions/processes.h"

#include <algorithm>

namespace tracewell::trace {

void TracedProcesses::begin(const Catalog& catalog) {
  table_ = ProcessTable(catalog);
  const size_t count = std::min<size_t>(catalog.processes.size(), kProcessesMax);
  for (size_t i = 0; i < count; ++i)
    if (catalog.processes[i] != Process{}) note(static_cast<uint32_t>(i + 1));
}

void TracedProcesses::note(uint32_t process) {
  if (process > kProcessesMax) return;
  if (process >= there_.size()) there_.resize(process + 1);
  count_ += !there_[process];
  there_[process] = true;
}

void TracedProcesses::note(const Event& event) {
  note(event.process);
  const auto* const change = std::get_if<Change>(&event.body);
  if (change == nullptr || event.process > kListedMax) return;
  const TracedProcess::Place here = {event.seq, event.time_ns};
  if (change->kind == Change::Kind::ProcessBegan) lives_[event.process].began = here;
  if (change->kind == Change::Kind::ProcessEnded) lives_[event.process].ended = here;
}

std::vector<TracedProcess> TracedProcesses::list() const {
  std::vector<TracedProcess> out;
  for (uint32_t number = 1; number < there_.size() && number <= kListedMax; ++number) {
    if (!there_[number]) continue;
    TracedProcess& one = out.emplace_back();
    one.number = number;
    if (const Process* const known = table_.find(number)) one.who = *known;
    const auto life = lives_.find(number);
    if (life == lives_.end()) continue;
    one.began = life->second.began;
    one.ended = life->second.ended;
  }
  return out;
}

}  // namespace tracewell::trace
