// Which process a thread of a log belongs to, and which programs the processes ran.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/catalog.h"
#include "model/event.h"
#include "model/process_table.h"
#include "report/entry.h"

namespace tracewell::report {

/// Learns from the catalog (processes, and extras `….thread.TID` = PID), from changes, and from
/// marks (`process PID: PATH`). Programs are kept as far as kPathsMax processes: a log of any
/// length takes bounded memory.
class Processes final : public ProcessPaths {
 public:
  static constexpr size_t kPathsMax = 65536;

  explicit Processes(const Catalog& catalog);
  /// Before anything is asked of the event.
  void learn(const Event& event);

  /// The pid that the event says, or else the catalog of its thread. 0 = not known.
  uint64_t of(const Event& event) const {
    if (event.tid != last_tid_ || event.process != last_process_) look_up(event);
    return last_pid_;
  }
  /// The pid that the event says; 0: it does not.
  uint32_t told(const Event& event) const { return table_.pid_of(event); }
  /// Does the catalog say of the thread what the event says? If not, others may have had its id.
  bool says_the_same(const Event& event) const {
    const auto found = threads_.find(event.tid);
    return found != threads_.end() && found->second == told(event);
  }
  /// Of whoever had the pid last.
  std::string_view path_of(uint64_t pid) const override;
  /// The path of the process that of() was asked for last.
  std::string_view last_path() const { return last_path_; }

 private:
  struct Program {
    std::string path;
    uint32_t process = 0;  // whose mark said so; 0 = one of nobody knows whom
  };
  void learn_mark(const Event& event, const Mark& mark);
  void forget_last();
  void look_up(const Event& event) const;

  ProcessTable table_;
  std::unordered_map<uint64_t, uint64_t> threads_;
  std::unordered_map<uint64_t, Program> paths_;        // by pid
  std::unordered_map<uint32_t, std::string> programs_;  // by process, as their marks say
  // Events of one thread come in rows.
  mutable uint64_t last_tid_ = 0, last_pid_ = 0;
  mutable uint32_t last_process_ = 0;
  mutable std::string_view last_path_;
};

}  // namespace tracewell::report
