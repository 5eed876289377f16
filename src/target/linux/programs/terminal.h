// The controlling terminal while a launched program is its foreground job, as under a shell.
#pragma once

#include "target/target.h"

namespace tracewell::target::live {

class Terminal {
 public:
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { take_back(); }

  /// Makes the process group of `child` (its leader) the foreground job, if `wanted` and our
  /// standard input is a terminal that we are in front of.
  void lend(Pid child, bool wanted);
  void take_back();

 private:
  Pid lent_to_ = 0;
};

}  // namespace tracewell::target::live
