// Processes that have ended, as the kernel tells at once (pidfd_open(2)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/files/unique_fd.h"

namespace tracewell::hooks {

/// What a process that gave up its rights writes into a ring of its program's, once that has ended,
/// is not to be taken for another process's that has the number by then. So rings are given up
/// before a number can come round. Costs a descriptor for each process; kMost are watched, and
/// kernels before 5.3 watch none. For one thread.
class ProcessEnds {
 public:
  static constexpr size_t kMost = 256;

  /// One that lives, as far as is known. Again is once.
  void watch(uint32_t pid);
  /// Those that have ended since they were asked for last.
  std::vector<uint32_t> take();

 private:
  std::map<uint32_t, UniqueFd> watched_;
};

}  // namespace tracewell::hooks
