// Threads that do not stop when they are asked to: they wait in the kernel (state D), as inside
// vfork(2) or for a file system that does not answer, for as long as somebody else likes. Nobody
// waits for them for ever. They run no instruction of the program until they have stopped, so that
// they are as good as standing still; but their registers cannot be had.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "target/linux/stops/patience.h"
#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

class Tracer;

/// A part of the Tracer, which it belongs to.
class Late {
 public:
  explicit Late(Tracer& tracer) : tracer_(tracer) {}

  /// Gives up those of `waited_for` that have been waited for for long enough, or for a moment when
  /// we are to end. True: some.
  bool look(Patience& patience, const std::function<bool(const Thread&)>& waited_for);
  /// It becomes Run::Late: nobody waits for it, and it is taken in again once it stops.
  void give_up(Thread& thread, char state);
  /// A stop of one that was given up, before anybody looks at it. False: it goes on to another.
  bool take_in(Thread& thread, int status);
  /// If it has stopped since, while everything stands still, it stands like the others.
  void look_again(Thread& thread);
  struct Place {
    uint64_t pc = 0, sp = 0;
  };
  /// Where a thread is that waits in the kernel; nullopt: that cannot be known.
  static std::optional<Place> place_of(Tid tid);
  /// A register block in which where it is alone is known.
  Status read_block(const Thread& thread, std::span<uint8_t> block) const;
  std::vector<uint8_t> known_registers(const Thread& thread) const;
  /// May one of them come back into code of ours in this memory?
  bool may_return_into_ours(const AddressSpace& space) const;

  /// Lets it go once it stops, which may be never. Its process is to be removed.
  void let_go(const Thread& thread);
  void let_go(Tid tid);
  /// Of processes that threads are of which have not been let go yet.
  bool any_of(const std::function<bool(Pid)>& test) const;
  bool is_leaving(Tid tid) const { return leaving_.contains(tid); }
  /// Is it wanted again? It has not stopped since, and may now; true: traps of ours may be armed.
  std::optional<bool> take_back(Tid tid);
  /// It has something of ours in place of its own, which it is to get back before anything else.
  bool has_ours(Tid tid) const;
  /// A program that nobody traces any more, or will, was replaced by another one (exec).
  void exec_happened(Tid leader);
  void on_status(Tid tid, int status);
  bool release();  // true: some have not stopped yet
  /// Before we end: waits for those that have something of ours in place of what is theirs. Ending
  /// would leave them with that, and mostly kill the program.
  void stay_for_lent();
  std::vector<Tid> leaving() const;

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
  void tell(const std::string& text);
  Tracer& tracer_;
  std::map<Tid, Leaving> leaving_;
  int told_ = 0;
};

}  // namespace tracewell::target::live
