#include "report/processes.h"

#include <variant>

#include "base/text/text.h"
#include "report/mark_text.h"

namespace tracewell::report {

Processes::Processes(const Catalog& catalog) : table_(catalog) {
  constexpr std::string_view kThread = ".thread.";
  for (const auto& [key, value] : catalog.extras) {
    const size_t at = key.find(kThread);
    if (at == std::string::npos) continue;
    const auto thread = parse_number(std::string_view(key).substr(at + kThread.size()));
    const auto process = parse_number(value);
    if (thread && process) threads_.insert_or_assign(*thread, *process);
  }
}

void Processes::forget_last() {
  last_tid_ = last_pid_ = last_process_ = 0;
  last_path_ = {};
}

void Processes::learn(const Event& event) {
  if (const auto* mark = std::get_if<Mark>(&event.body)) return learn_mark(event, *mark);
  const auto* change = std::get_if<tracewell::Change>(&event.body);
  if (change == nullptr) return;
  table_.learn(event);
  if (change->process != nullptr) programs_.erase(event.process);  // what a mark said is older
  forget_last();
}

void Processes::learn_mark(const Event& event, const Mark& mark) {
  const MarkText text = read_mark(mark.text);
  if (text.kind != MarkText::Kind::Process) return;
  forget_last();
  const std::string path(text.rest);
  if (paths_.size() < kPathsMax || paths_.contains(text.number))
    paths_.insert_or_assign(text.number, Program{path, event.process});
  if (event.process == 0 || table_.pid(event.process) != text.number) return;
  if (programs_.size() < kPathsMax || programs_.contains(event.process))
    programs_.insert_or_assign(event.process, path);
}

std::string_view Processes::path_of(uint64_t pid) const {
  const auto found = paths_.find(pid);
  return found == paths_.end() ? std::string_view() : std::string_view(found->second.path);
}

/// Of one that is told apart from others that had its pid, only what is said of it counts.
void Processes::look_up(const Event& event) const {
  last_tid_ = event.tid;
  last_process_ = event.process;
  last_path_ = {};
  const uint32_t process = table_.process_of(event);
  last_pid_ = table_.pid(process);
  if (last_pid_ == 0)
    if (const auto found = threads_.find(event.tid); found != threads_.end())
      last_pid_ = found->second;
  if (const auto own = programs_.find(process); process != 0 && own != programs_.end()) {
    last_path_ = own->second;
    return;
  }
  const Process* const told = table_.find(process);
  if (told != nullptr && !told->image.empty()) {
    last_path_ = told->image;
    return;
  }
  const auto found = paths_.find(last_pid_);
  if (last_pid_ == 0 || found == paths_.end()) return;
  const uint32_t teller = found->second.process;
  if (process == 0 || teller == 0 || teller == process) last_path_ = found->second.path;
}

}  // namespace tracewell::report
