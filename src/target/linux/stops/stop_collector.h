// Collects stops: takes the wait statuses of traced threads, of those that are about to be, and of
// those that were let go and have not gone yet. What one means is for somebody else to say; what is
// to be looked at stands in line until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "target/linux/stops/bell.h"
#include "target/linux/stops/patience.h"
#include "target/linux/threads/thread_table.h"
#include "target/target.h"

namespace tracewell::target::live {

class StopCollector {
 public:
  class Receiver {
   public:
    /// It may be in no table.
    virtual void on_status(Tid tid, int status) = 0;
    /// Those in no table whose statuses are wanted.
    virtual std::vector<Tid> others() const = 0;
    /// It was killed as it was let go, and does not end.
    virtual void on_lingering(Tid tid) = 0;

   protected:
    ~Receiver() = default;
  };

  StopCollector(const ThreadTable& threads, Receiver& receiver,
                const std::function<bool()>& gives_up)
      : threads_(threads), receiver_(receiver), gives_up_(gives_up) {}

  /// Before the first process.
  Status prepare();
  /// Before a wait: are there children that are not ours, and may be waited for by others?
  void look_for_foreign_children() { careful_ = has_foreign_children(); }

  // --- statuses
  void note(Tid tid, int status);
  /// The next one of any. False: there is none, or nobody to wait for.
  bool wait_once(bool block);
  Came take_status(Tid tid, int64_t awake_ns = 0);
  /// How many of these had one. To look for any takes the kernel as long as there are threads.
  size_t take_each(std::span<const Tid> tids);
  void take_ready(size_t most);
  void collect_ready();
  /// Until this thread stands still or is gone; for a moment when we are to end.
  Waited await_within(Tid tid, int64_t patience_ns);
  void see_off();  // waits until those that were killed as they were let go have ended

  // --- fresh stops, in order
  void add_ready(Tid tid) { ready_.push_back(tid); }
  size_t ready() const { return ready_.size(); }
  Tid take_next_ready();

  // --- whom we wait for, or need not, though nobody traces them
  bool is_bell(Tid tid) const { return tid == bell_.pid(); }
  bool is_dying(Tid tid) const { return dying_.contains(tid); }
  bool was_let_go(Tid tid) const;
  /// Killed as it was let go: its end is still to come.
  void add_dying(Tid tid) { dying_.insert(tid); }
  /// A child of our own that we do not trace any more.
  void add_let_go(Pid pid) { let_go_.push_back(pid); }
  bool forget_let_go(Tid tid) { return std::erase(let_go_, tid) > 0; }

  Bell& bell() { return bell_; }
  Nudger& nudger() { return nudger_; }

 private:
  bool has_foreign_children() const;
  bool wait_carefully(bool block);

  const ThreadTable& threads_;
  Receiver& receiver_;
  const std::function<bool()>& gives_up_;
  Bell bell_;
  Nudger nudger_{bell_};
  std::deque<Tid> ready_;
  std::set<Tid> dying_;
  std::vector<Pid> let_go_;
  bool careful_ = false;
};

}  // namespace tracewell::target::live
