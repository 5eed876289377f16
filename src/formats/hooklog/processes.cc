#include "formats/hooklog/processes.h"

#include <fmt/format.h>

#include "model/process_table.h"

namespace tracewell::formats {
namespace {

constexpr uint64_t kStartTickNs = 10'000'000;  // of /proc/PID/stat on x86

}  // namespace

uint32_t HooklogProcesses::of(uint32_t pid, uint64_t run) {
  if (pid == 0) return 0;
  const std::pair key(pid, run);
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  if (numbers_.size() >= kProcessesMax) return 0;
  do {
    last_ = last_ % kProcessesMax + 1;
  } while (last_ < used_.size() && used_[last_]);
  if (last_ >= used_.size()) {
    used_.resize(last_ + 1);
    told_.resize(last_ + 1);
  }
  used_[last_] = true;
  numbers_.emplace(key, last_);
  return last_;
}

void HooklogProcesses::keep(const std::set<std::pair<uint32_t, uint64_t>>& with_rings) {
  std::erase_if(numbers_, [&](const auto& one) {
    if (with_rings.contains(one.first)) return false;
    used_[one.second] = told_[one.second] = false;
    return true;
  });
}

Process HooklogProcesses::process_of(const First& first) const {
  const tracewell_packet& head = first.head;
  Process out;
  out.pid = head.pid;
  out.host = host_;
  if (head.identity[1] != 0) out.id = ProcessId{head.identity[0], head.identity[1]};
  if (head.identity[0] != 0) out.boot = fmt::format("{:016x}", head.identity[0]);
  if (head.start != 0 && head.start <= UINT64_MAX / kStartTickNs)
    out.start_ns = head.start * kStartTickNs;
  if (first.program) out.image = *first.program;
  return out;
}

void HooklogProcesses::describe(uint32_t process, const First& first,
                                std::vector<Process>& processes) {
  if (process == 0 || process > ProcessTable::kWholeMax) return;
  if (!is_told(process)) {
    put_process(processes, process, process_of(first));
    told_[process] = true;
  } else if (first.program && processes[process - 1].image.empty()) {
    processes[process - 1].image = *first.program;  // its other rings have lost theirs
  }
}

void HooklogProcesses::tell(uint32_t process, const First& first, uint64_t seq, Batch& batch) {
  told_[process] = true;
  Event& event = batch.add();
  event.seq = seq;
  event.process = process;
  event.body = Change{.process = batch.keep(process_of(first))};
}

}  // namespace tracewell::formats
