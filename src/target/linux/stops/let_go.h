// Threads that nobody traces any more, or wants to, and that have not stopped since: only one that
// is stopped can be let go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/linux/stops/stop_collector.h"
#include "target/linux/threads/thread_table.h"

namespace tracewell::target::live {

class LetGo {
 public:
  LetGo(const ThreadTable& threads, StopCollector& stops) : threads_(threads), stops_(stops) {}

  /// Lets it go once it stops, which may be never. Its process is to be removed.
  void add(const Thread& thread);
  void add(Tid tid);
  bool has(Tid tid) const { return leaving_.contains(tid); }
  bool empty() const { return leaving_.empty(); }
  std::vector<Tid> all() const;
  /// Of processes that threads are of which have not been let go yet.
  bool any_of(const std::function<bool(Pid)>& test) const;
  /// Of one that is there: its process (0: not known), and its memory (null: never looked at).
  Pid pid_of(Tid tid) const { return leaving_.at(tid).pid; }
  std::shared_ptr<AddressSpace> memory_of(Tid tid) const { return leaving_.at(tid).space; }

  /// Is it wanted again? It has not stopped since, and may now; true: traps of ours may be armed.
  std::optional<bool> take_back(Tid tid);
  /// It has something of ours in place of its own, which it is to get back before anything else.
  bool has_ours(Tid tid) const;
  /// A program that nobody traces any more, or will, was replaced by another one (exec).
  void exec_happened(Tid leader);
  /// A status of one that is there. True: it has gone.
  bool on_status(Tid tid, int status);
  /// Looks at each of them.
  void release();
  /// Why we are to live on until one of them stops, where the program would break else.
  std::optional<std::string> reason_to_stay() const;

 private:
  struct Leaving {
    Pid pid = 0;
    std::shared_ptr<AddressSpace> space;  // null: never looked at
    bool has_traps = false;               // of ours, which are not the program's
    std::optional<LeavingCode> half_way;  // its own mask of signals, and signals for it
    std::shared_ptr<Lent> lent;           // its own registers, too
  };
  static void give_back(Tid tid, const Leaving& leaving);
  void follow(Tid gone, Pid pid);

  const ThreadTable& threads_;
  StopCollector& stops_;
  std::map<Tid, Leaving> leaving_;
};

}  // namespace tracewell::target::live
