// Which process each ring of a log is of.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "model/process.h"

namespace tracewell::formats {

/// A process is who draws an identity when it makes its first ring: a pid that is used again is
/// another one, and so is a program that was started by exec. Releases before had no identity:
/// there it is the pid. Who is known before the first event stands in the catalog; of others, a
/// change in front of their first event says it.
class HooklogProcesses {
 public:
  /// Of the machine that the log says it was made on, if it does.
  void set_host(std::string host) { host_ = std::move(host); }
  /// Of a ring, by its pid and what all rings of the process have in common, before its events are
  /// asked for. 0: it is no process's, or there are too many.
  uint32_t of(uint32_t pid, uint64_t run);

  /// The first event of a ring: the head of its packet, and the program that it names, if it does.
  struct First {
    const tracewell_packet& head;
    std::optional<std::string_view> program;
  };
  /// Adds who the process is to the catalog's, as far as there is room.
  void describe(uint32_t process, const First& first, std::vector<Process>& processes);
  /// Says it in front of that event.
  void tell(uint32_t process, const First& first, uint64_t seq, Batch& batch);
  bool is_told(uint32_t process) const {
    return process == 0 || (process < told_.size() && told_[process]);
  }
  /// Of a log that is followed: those that have no ring any more go. Their numbers are given again,
  /// and told anew, once all others were given.
  void keep(const std::set<std::pair<uint32_t, uint64_t>>& with_rings);

 private:
  Process process_of(const First& first) const;

  std::string host_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers_;  // by pid, and what its rings share
  std::vector<bool> used_, told_;                              // by number
  uint32_t last_ = 0;                                          // number that was given
};

}  // namespace tracewell::formats
