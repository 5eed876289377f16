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

  Tracer& tracer_;
  Core& core_;
  ThreadTable& threads_;
  StopCollector& stops_;
  Terminal terminal_;
};

/// What the kernel is to deliver as the thread is let go: a signal that stopped it and that nobody
/// has decided about.
int signal_for_detach(const Wishes& wishes, Thread& thread);
/// All of this memory run on, those that have not stopped yet once they have.
void give_up_threads(Tracer& tracer, const AddressSpace& space);
Error why_not_attached(Pid pid, int why);

}  // namespace tracewell::target::live
