// The engine: threads, their stops, and what is done about each, in the files that are named below.
// A stop is collected (on_status), then looked at once by decide(): the debugger is told, or the
// thread goes on. park() does the same for stops that came too late to be told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "target/linux/fast/fast_sites.h"
#include "target/linux/inject/arenas.h"
#include "target/linux/inject/injector.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/linux_target.h"
#include "target/linux/memory/late_pages.h"
#include "target/linux/sites/site_stepper.h"
#include "target/linux/sites/trap_sites.h"
#include "target/linux/stops/late.h"
#include "target/linux/stops/let_go.h"
#include "target/linux/stops/one_by_one.h"
#include "target/linux/stops/starter.h"
#include "target/linux/stops/stop_collector.h"
#include "target/linux/stops/stopper.h"
#include "target/linux/stops/unborn.h"
#include "target/linux/stops/untold.h"
#include "target/linux/stops/wishes.h"
#include "target/linux/threads/caught_calls.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/thread_table.h"
#include "target/linux/threads/tracee.h"
#include "target/target.h"

namespace tracewell::target::live {

class Tracer final : private ThreadTable::Watcher, private StopCollector::Receiver {
 public:
  /// `quits`: is what takes long to be left off? May be empty.
  explicit Tracer(const LinuxOptions& options, std::function<bool()> quits = {})
      : gives_up(std::move(quits)),
        threads_(*this),
        options_(options),
        stops_(threads_, *this, gives_up),
        late_(threads_, registers_, options_.notice),
        let_go_(threads_, stops_),
        starter_(registers_),
        stopper_(threads_, stops_, late_, gives_up),
        injector_(threads_, stops_, late_, gives_up),
        arenas_(injector_, options_.map_memory, gives_up),
        stepper_(stops_, late_, starter_, stopper_, arenas_, gives_up) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  const LinuxOptions& options() const { return options_; }
  ThreadTable& threads() { return threads_; }
  RegisterBlocks& registers() { return registers_; }
  StopCollector& stops() { return stops_; }
  Wishes& wishes() { return wishes_; }
  const Wishes& wishes() const { return wishes_; }
  Untold& untold() { return untold_; }
  OneByOne& one_by_one() { return one_by_one_; }  // non-stop
  LiveFastSites& fast() { return fast_; }
  TrapSites& sites() { return sites_; }
  Late& late() { return late_; }
  LetGo& let_go() { return let_go_; }
  Stopper& stopper() { return stopper_; }
  Injector& injector() { return injector_; }
  Arenas& arenas() { return arenas_; }
  Unborn& unborn() { return unborn_; }

  // --- waiting (waiting.cc)
  Result<std::optional<StopEvent>> wait();
  int look_after();  // see Processes
  bool end_untold() const { return !untold_.gone.empty(); }
  void ring() { stops_.bell().ring(); }

  // --- stopping and starting (running.cc)
  Status resume(std::span<const ResumeAction> actions);
  void interrupt() { untold_.interrupt_wanted = true; }
  void stop_all();
  /// Starts a stopped thread, past the site where it stands if that was counted.
  void go(Thread& thread, int signal = 0);
  void park(Thread& thread), end_sample(Thread& thread, int signal);
  /// If one that was given up has stopped since, while everything stands still, it stands like the
  /// others.
  void look_again(Thread& thread);
  void settle(Thread& thread);  // takes the pc out of a copy
  void detach_thread(Thread& thread, int signal);

  // --- what stops mean (events.cc)
  Decision decide(Thread& thread, bool parking), meaning_of(Thread& thread, bool parking);
  Decision on_signal(Thread& thread, int signal);
  bool passes(const Thread& thread, int signal) const;
  Decision on_trap(Thread& thread, bool parking);
  Decision on_event_stop(Thread& thread);
  std::optional<StopEvent> watch_event(Thread& thread);
  void process_gone(Thread& leader, int status);

  // --- children and programs (forks.cc)
  Decision on_clone(Thread& thread), on_fork(Thread& thread, bool vfork);
  Decision on_exec(Thread& thread);
  void exec_happened(Tid leader);
  bool exec_untold(Pid pid);  // see Target

  // --- breakpoints' and sites' traps (hits.cc)
  Decision on_int3(Thread& thread, bool parking);
  bool filtered(Thread& thread, Breakpoints::Kind kind, uint64_t address) const;
  bool filter_tells(Thread& thread, Breakpoints::Kind kind, uint64_t address);
  Decision on_step(Thread& thread, int code, bool parking);
  Decision on_system_call(Thread& thread);
  Decision system_call_event(Thread& thread, StopEvent::Kind kind, int64_t number);

  // --- beginning and end of programs: see Programs
  void start_resumed();
  void release_orphans();
  bool look_at_let_go();  // true: some have not stopped yet
  void stay_for_lent();

  const std::function<bool()> gives_up;

 private:
  friend class Hit;
  friend class LiveFastSites;
  friend class OneByOne;
  friend class Unborn;
  void on_added(Thread& thread) override;
  void on_removal(Thread& thread) override;
  void on_process_removed() override;
  void on_status(Tid tid, int status) override;
  std::vector<Tid> others() const override;
  void on_lingering(Tid tid) override;
  void on_let_go_status(Tid tid, int status);
  std::optional<StopEvent> handle_next(), take_pending(), interrupted_event();
  void forget_last_threads();
  bool still_true(Thread& thread), leader_waits(const Thread& leader), anything_runs();
  void give_way(StopEvent& event);
  void park_ready();
  void await_all_stopped();
  void tell_refusals(Thread& thread);
  Decision child_born(Thread& thread, Pid child, StopEvent::Kind kind);

  ThreadTable threads_;
  LinuxOptions options_;
  RegisterBlocks registers_;
  StopCollector stops_;
  Late late_;
  LetGo let_go_;
  Starter starter_;
  Stopper stopper_;
  Injector injector_;
  Arenas arenas_;
  SiteStepper stepper_;
  LatePages late_pages_;
  std::vector<uint8_t> block_;
  int64_t no_stop_ns_ = 0;  // since when all threads are on their way out, and one is to stop
  Wishes wishes_;
  Untold untold_;
  OneByOne one_by_one_{*this};
  LiveFastSites fast_{*this};
  TrapSites sites_{threads_, fast_, injector_, stepper_, options_, gives_up};
  Unborn unborn_{*this};
};

}  // namespace tracewell::target::live
