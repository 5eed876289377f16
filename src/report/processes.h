// Which process a thread of a log belongs to, and which programs the processes ran.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/catalog.h"
#include "model/event.h"
#include "report/entry.h"

namespace tracewell::report {

/// Learns from the catalog (extras `….thread.TID` = PID) and from marks (`process PID: PATH`).
/// Programs are kept as far as kPathsMax processes: a log of any length takes bounded memory.
class Processes final : public ProcessPaths {
 public:
  static constexpr size_t kPathsMax = 65536;

  explicit Processes(const Catalog& catalog);
  void learn(const Mark& mark);

  /// What the event says, or else the catalog of its thread. 0 = not known.
  uint64_t of(const Event& event) const {
    if (event.tid != last_tid_ || event.pid != last_told_) look_up(event);
    return last_pid_;
  }
  /// Does the catalog say of the thread what the event says? If not, others may have had its id.
  bool says_the_same(const Event& event) const {
    const auto found = threads_.find(event.tid);
    return found != threads_.end() && found->second == event.pid;
  }
  std::string_view path_of(uint64_t pid) const override;
  /// The path of the process that of() was asked for last.
  std::string_view last_path() const { return last_path_; }

 private:
  void look_up(const Event& event) const;

  std::unordered_map<uint64_t, uint64_t> threads_;
  std::unordered_map<uint64_t, std::string> paths_;
  // Events of one thread come in rows.
  mutable uint64_t last_tid_ = 0, last_told_ = 0, last_pid_ = 0;
  mutable std::string_view last_path_;
};

}  // namespace tracewell::report
