// What attaching to one process takes, and giving it up again.
#pragma once

#include <memory>
#include <set>
#include <string_view>

#include "base/result.h"
#include "target/linux/stops/patience.h"
#include "target/linux/tracer.h"
#include "target/target.h"

namespace tracewell::target::live {

class Attaching {
 public:
  explicit Attaching(Tracer& tracer)
      : tracer_(tracer),
        core_(tracer.core()),
        threads_(tracer.core().threads),
        stops_(tracer.core().stops),
        patience_(kPatienceNs, tracer.core().gives_up) {}
  Status seize_and_stop(Pid pid);

 private:
  static constexpr int64_t kPatienceNs = 10 * kSecond;  // with a thread that cannot stop
  static bool is_replaced(const Thread& leader);
  static bool is_ours(Tid tid);
  int seize_patiently(Tid tid);
  Result<Process*> seize(Pid pid, std::shared_ptr<AddressSpace> shared);
  bool is_of(Tid tid, Pid pid, const AddressSpace* shared) const;
  Error give_up(Pid pid, std::string_view why);
  Result<bool> seize_sharers(Pid pid, std::set<Pid>& refused);
  void find_strangers(Pid pid);
  bool may_run_on(Pid pid) const;
  Status await_seized(const AddressSpace& space);

  Tracer& tracer_;
  Core& core_;
  ThreadTable& threads_;
  StopCollector& stops_;
  Patience patience_;
  std::set<Pid> strangers_;  // that share no memory with the process
  bool gave_up_ = false;     // everything that was attached, by the last seize()
};

/// What the kernel is to deliver as the thread is let go: a signal that stopped it and that nobody
/// has decided about.
int signal_for_detach(const Wishes& wishes, Thread& thread);
/// All of this memory run on, those that have not stopped yet once they have.
void give_up_threads(Tracer& tracer, const AddressSpace& space);
/// `why`: an errno.
Error why_not_attached(Pid pid, int why);

}  // namespace tracewell::target::live
