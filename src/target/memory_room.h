// How much memory a process may still use.
#pragma once

#include <cstdint>
#include <string>

namespace tracewell::target {

struct MemoryRoom {
  uint64_t bytes = UINT64_MAX;  // that are left
  uint64_t limit = UINT64_MAX;  // of all; UINT64_MAX = there is none
  std::string group;            // whose limit it is
  bool has_group_limit = false;  // any group's, be it more than the machine has left
};

}  // namespace tracewell::target
