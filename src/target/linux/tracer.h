// Traces programs: collects the stops of their threads, and has each of them looked at once. The
// Decider says what it means: the debugger is told, or the thread goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "target/linux/core.h"
#include "target/linux/fast/fast_sites.h"
#include "target/linux/sites/trap_sites.h"
#include "target/linux/stops/decider.h"
#include "target/linux/stops/one_by_one.h"
#include "target/linux/stops/owner.h"
#include "target/linux/stops/unborn.h"

namespace tracewell::target::live {

class Tracer final : public Owner,
                     private ThreadTable::Watcher,
                     private StopCollector::Receiver {
 public:
  /// `quits`: is what takes long to be left off? May be empty.
  explicit Tracer(const LinuxOptions& options, const std::function<bool()>& quits = {})
      : core_(options, quits, *this, *this) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  Core& core() { return core_; }
  OneByOne& one_by_one() { return one_by_one_; }  // non-stop
  LiveFastSites& fast() { return fast_; }
  TrapSites& sites() { return sites_; }
  Unborn& unborn() { return unborn_; }

  // --- waiting (waiting.cc)
  Result<std::optional<StopEvent>> wait();
  int look_after();  // see Processes
  bool anything_runs() const override;

  // --- all threads, as the debugger wants them (running.cc)
  Status resume(std::span<const ResumeAction> actions);
  void start_resumed() override;
  void stop_all() override;
  void await_all_stopped() override;
  /// One that has stopped too late to be told of comes to stand still.
  void park(Thread& thread);
  void park_ready() override;
  /// If one that was given up has stopped since, while everything stands still, it stands like the
  /// others.
  void look_again(Thread& thread);

  // --- what becomes of processes, and of threads that are let go (tracer.cc)
  void process_gone(Thread& last, int status) override;
  bool exec_untold(Pid pid);  // see Target
  void release_orphans() override;
  bool look_at_let_go();  // true: some have not stopped yet

 private:
  Decision decide(Thread& thread, bool parking) override;
  void on_added(Thread& thread) override;
  void on_removal(Thread& thread) override;
  void on_process_removed() override;
  void on_status(Tid tid, int status) override;
  std::vector<Tid> others() const override;
  void on_lingering(Tid tid) override;
  void on_let_go_status(Tid tid, int status);
  void exec_happened(Tid leader);
  std::optional<StopEvent> handle_next(), take_pending(), interrupted_event();
  void forget_last_threads();
  void give_way(StopEvent& event);

  Core core_;
  int64_t no_stop_ns_ = 0;  // since when all threads are on their way out, and one is to stop
  OneByOne one_by_one_{core_, *this};
  LiveFastSites fast_{core_, one_by_one_, *this};
  TrapSites sites_{core_, fast_};
  Unborn unborn_{core_, *this};
  Decider decider_{core_, fast_, one_by_one_, unborn_};
};

}  // namespace tracewell::target::live
