// Processes in PID namespaces below this one, as containers have them (pid_namespaces(7)). Such a
// program names its files by the number that it has for itself; here it has another one, and its
// own may be nobody's, or somebody else's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tracewell::hooks {

class NestedProcesses {
 public:
  /// This user's, as they are now: reads a file of /proc for each.
  static NestedProcesses look();

  /// Does one of them have that number for itself?
  bool has(uint32_t pid) const { return here_.contains(pid); }
  /// The number here of one that has `pid` for itself, is this user's, and has a file mapped whose
  /// path ends so, as has_mapped() says; 0 = there is none.
  uint32_t find(uint32_t pid, const std::string& end, uint64_t inode = 0) const;

 private:
  std::multimap<uint32_t, uint32_t> here_;  // numbers for themselves, and here
};

}  // namespace tracewell::hooks
