// WhoseFrames: whose all frames of a buffer are. A frame does not say it, so it is known while they
// are of one process.
#pragma once

#include <vector>

#include "model/process.h"
#include "target/target.h"

namespace tracewell::agent {

class WhoseFrames {
 public:
  /// A run of the process begins. `has_frames`: of runs before it.
  void begin(target::Target& target, target::Pid pid, bool has_frames) {
    target::ProcessFacts* const facts = target.facts();
    const std::vector<Process> now = {
        facts != nullptr ? facts->identity(pid) : Process{.pid = static_cast<uint32_t>(pid)}};
    pid_ = pid;
    if (!has_frames) known_ = now;
    else if (known_ != now) known_.clear();
  }
  /// Before a frame of this one: a child that has the process's memory (vfork) runs into its
  /// tracepoints as well. Is it known as before whose they are?
  bool fits(target::Pid pid) {
    if (pid == pid_ || known_.empty()) return true;
    known_.clear();
    return false;
  }
  /// There may be frames of others that cannot be told from its own.
  void forget() { known_.clear(); }
  /// As a catalog has it: one, or none.
  const std::vector<Process>& known() const { return known_; }

 private:
  target::Pid pid_ = 0;
  std::vector<Process> known_;
};

}  // namespace tracewell::agent
