#include "report/processes.h"

#include "base/text.h"
#include "report/mark_text.h"

namespace tracewell::report {

Processes::Processes(const Catalog& catalog) {
  constexpr std::string_view kThread = ".thread.";
  for (const auto& [key, value] : catalog.extras) {
    const size_t at = key.find(kThread);
    if (at == std::string::npos) continue;
    const auto thread = parse_number(std::string_view(key).substr(at + kThread.size()));
    const auto process = parse_number(value);
    if (thread && process) threads_.insert_or_assign(*thread, *process);
  }
}

void Processes::learn(const Mark& mark) {
  const MarkText text = read_mark(mark.text);
  if (text.kind != MarkText::Kind::Process) return;
  if (paths_.size() >= kPathsMax && !paths_.contains(text.number)) return;
  paths_.insert_or_assign(text.number, std::string(text.rest));
  last_tid_ = last_told_ = last_pid_ = 0;
  last_path_ = {};
}

std::string_view Processes::path_of(uint64_t pid) const {
  const auto found = paths_.find(pid);
  return found == paths_.end() ? std::string_view() : std::string_view(found->second);
}

void Processes::look_up(const Event& event) const {
  const auto found = threads_.find(event.tid);
  last_tid_ = event.tid;
  last_told_ = last_pid_ = event.pid;
  if (last_pid_ == 0 && found != threads_.end()) last_pid_ = found->second;
  last_path_ = last_pid_ == 0 ? std::string_view() : path_of(last_pid_);
}

}  // namespace tracewell::report
