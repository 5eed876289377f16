#include "formats/jsonl/processes.h"

#include <algorithm>

namespace tracewell::formats {

JsonlProcesses::JsonlProcesses(const Catalog& catalog) : table_(catalog) {
  for (uint32_t i = 0; i < catalog.processes.size(); ++i) note(i + 1, catalog.processes[i].pid);
}

void JsonlProcesses::note(uint32_t process, uint32_t pid) {
  next_ = std::max(next_, process + 1);
  if (process != 0 && pid != 0) by_pid_[pid] = process;
}

void JsonlProcesses::settle(Batch& batch, uint32_t pid) {
  Event& event = batch.events().back();
  const auto* change = std::get_if<Change>(&event.body);
  if (change != nullptr && change->process != nullptr) {
    if (event.process == 0) event.process = fresh();
    note(event.process, change->process->pid);
    return table_.learn(event);
  }
  note(event.process, 0);
  if (event.process == 0 && pid == 0) event.process = table_.process_of(event);
  const uint32_t known = table_.pid(event.process);
  if (pid != 0 && known != pid) {
    const auto same = by_pid_.find(pid);
    const bool is_named = event.process != 0 && known == 0;
    if (!is_named && same != by_pid_.end()) {
      event.process = same->second;
    } else {
      if (!is_named) event.process = fresh();
      if (event.process == 0) return;
      Event told;
      told.seq = event.seq;
      told.process = event.process;
      told.body = Change{.process = batch.keep(Process{.pid = pid})};
      note(told.process, pid);
      table_.learn(told);
      batch.insert(batch.size() - 1) = told;
    }
  }
  table_.learn(batch.events().back());
}

}  // namespace tracewell::formats
