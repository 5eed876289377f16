// Begins and ends the tracing of programs.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "target/linux/programs/terminal.h"
#include "target/linux/tracer.h"
#include "target/target.h"

namespace tracewell::target::live {

class Programs {
 public:
  explicit Programs(Tracer& tracer)
      : tracer_(tracer),
        core_(tracer.core()),
        threads_(core_.threads),
        stops_(core_.stops) {}
  /// Lets go of programs that were attached to, and kills those that were launched.
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // See Processes.
  Result<StopEvent> launch(const Processes::LaunchOptions& options);
  Result<StopEvent> attach(Pid pid);
  Status detach(Pid pid), kill(Pid pid);

 private:
  void release(const std::shared_ptr<AddressSpace>& space);
  void let_run(const std::vector<Pid>& children);
  /// Waits for threads that have something of ours in place of what is theirs. Ending would leave
  /// them with that, and mostly kill the program.
  void stay_for_lent();

  Tracer& tracer_;
  Core& core_;
  ThreadTable& threads_;
  StopCollector& stops_;
  Terminal terminal_;
};

}  // namespace tracewell::target::live
