#include "model/process_table.h"

#include <algorithm>

#include "base/begin_anew.h"

namespace tracewell {
namespace {

size_t text_bytes(const Process& process) {
  return process.host.size() + process.boot.size() + process.image.size();
}

}  // namespace

ProcessTable::ProcessTable(const Catalog& catalog) {
  const size_t count = std::min<size_t>(catalog.processes.size(), kProcessesMax);
  for (size_t i = 0; i < count; ++i) put(static_cast<uint32_t>(i + 1), catalog.processes[i]);
}

const Process* ProcessTable::find(uint32_t process) const {
  return is_known(process) && process <= whole_.size() ? &whole_[process - 1] : nullptr;
}

void ProcessTable::put(uint32_t process, const Process& told) {
  if (process == 0 || process > kProcessesMax) return;
  if (process >= pids_.size()) {
    pids_.resize(process + 1);
    flags_.resize(process + 1);
  }
  pids_[process] = told.pid;
  flags_[process] = kKnown;
  if (process > kWholeMax) return;
  if (process > whole_.size()) whole_.resize(process);
  Process& kept = whole_[process - 1];
  text_bytes_ -= text_bytes(kept);
  kept = told;
  if (text_bytes(told) > kTextBytesMax - text_bytes_) kept.host = kept.boot = kept.image = "";
  text_bytes_ += text_bytes(kept);
}

void ProcessTable::learn(const Event& event, const Change& change) {
  using Kind = Change::Kind;
  if (change.process != nullptr) put(event.process, *change.process);
  switch (change.kind) {
    case Kind::ProcessEnded:
      if (is_known(event.process)) flags_[event.process] |= kEnded;
      break;
    case Kind::ThreadBegan:
      if (threads_.size() >= kThreadsMax && !threads_.contains(event.tid)) begin_anew(threads_);
      threads_[event.tid] = event.process;
      break;
    case Kind::ThreadEnded:
      if (const auto found = threads_.find(event.tid);
          found != threads_.end() && (event.process == 0 || event.process == found->second))
        threads_.erase(found);
      break;
    default:
      break;
  }
}

/// Threads of a process that has ended have ended, told or not.
uint32_t ProcessTable::process_of_thread(uint64_t tid) const {
  const auto found = threads_.find(tid);
  return found == threads_.end() || has_ended(found->second) ? 0 : found->second;
}

void put_process(std::vector<Process>& processes, uint32_t process, const Process& told) {
  if (process == 0 || process > ProcessTable::kWholeMax) return;
  if (process > processes.size()) processes.resize(process);
  processes[process - 1] = told;
}

}  // namespace tracewell
