// Non-stop: what is done about one thread's stop while the others run. `resumed` of a thread says
// what the debugger believes: it runs until its stop has been told.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "target/linux/core.h"
#include "target/linux/stops/owner.h"
#include "target/target.h"

namespace tracewell::target::live {

/// A part of the Tracer, which it belongs to.
class OneByOne {
 public:
  OneByOne(Core& core, Owner& owner) : core_(core), owner_(owner) {}

  bool on() const { return on_; }
  void set(bool on);
  bool runs(const Thread& thread) const { return on_ && thread.resumed; }
  /// Signal (with signal 0) or Interrupted is to be told, unless something else comes first.
  void want_stop(Thread& thread, StopEvent::Kind kind);
  /// A sample of it is to be told as its stop.
  void want_sample(Thread& thread);
  /// One that only seems to stand still does so from now on.
  void stop_sampled(Tid tid);
  /// Has the debugger yet to say what it wants? It believes a thread to stand still that runs on,
  /// and that no signal is to be passed. Forks are not told of then.
  bool is_undecided() const;
  /// Does a thread get this signal untold then, as without a debugger?
  bool passes(const Thread& thread, int signal) const;
  /// Stops and samples that were asked for, and are not told of yet, are not wanted any more.
  void want_none();
  /// Ctrl-C stops one thread: the leader, if it runs.
  void interrupt();
  /// Would wait() tell something, sooner or later?
  bool due();

  /// Everything stands still for what can only be done then; in all-stop mode it does anyhow. What
  /// happens to threads meanwhile is told when they were let on.
  void hold_all();
  /// A thread of this memory comes to stand still that can run system calls for us, if one can be
  /// had soon: within some 40 ms where all wait in the kernel. The others run on.
  void hold_one(AddressSpace& space);
  void let_on();

  /// What to tell of a thread's stop, for which this was decided; or it goes on.
  std::optional<StopEvent> tell(Thread& thread, Decision decision);
  /// What is left of the time when all were held.
  std::optional<StopEvent> take_pending();

  /// One that ran may have been the last: that is to be told then.
  void note_end(const Thread& thread) { ended_ |= thread.resumed; }
  void forget_ends() { ended_ = false; }
  bool take_ends() { return std::exchange(ended_, false); }

 private:
  StopEvent stopped(Thread& thread, StopEvent event);
  StopEvent stopped_as_wanted(Thread& thread);
  std::vector<Tid> those_to_hold(const AddressSpace& space);
  Core& core_;
  Owner& owner_;
  bool on_ = false;
  bool ended_ = false;
};

}  // namespace tracewell::target::live
