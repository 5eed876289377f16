// Children whose birth has not been told of. Who is traced has children that are traced from their
// beginning: such a child may stop, or end, before the event of its creator tells its number, and a
// creator that is killed in the middle of clone(2), or ended by another thread's exec, never does.
// By the time that an event is looked at, its number may be that of a process of somebody else's.
// So a number is believed only while the kernel says that we trace who has it, and a child that
// stands in its first stop is kept until it was told of, or nobody is left who could do that. Then
// it is let go, without traps of ours: it has its creator's memory, or a copy of it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "target/linux/core.h"
#include "target/linux/stops/owner.h"

namespace tracewell::target::live {

/// A part of the Tracer, which it belongs to.
class Unborn {
 public:
  Unborn(Core& core, Owner& owner) : core_(core), owner_(owner) {}

  /// When a wait status came, as a count of them.
  uint64_t tick() { return ++now_; }
  /// A wait status of a thread that is in no table.
  void note(Tid tid, int status);
  /// Whom the fork event tells of in which `creator`, a thread of `pid`, stands; 0 = it has ended.
  /// `noted`: when the stop of `creator` before this one came.
  Tid told_by(Tid creator, Pid pid, uint64_t noted);
  /// The thread's stop was noted, and tells of that child.
  void tell(Thread& creator, Tid child);
  /// The child that tell() was given, now that the event is looked at; 0 = it has ended since.
  Tid take_child(Thread& creator);
  /// Now it gets into the tables: the status with which it has stopped.
  std::optional<int> take_status(Tid tid);
  /// It was told of, and nobody will look at the event. It has this memory, or a copy of it.
  void orphan(Tid child, std::shared_ptr<AddressSpace> memory);
  /// Its memory, a copy of its creator's (nullptr: not known). Where nobody may look into it, it is
  /// asked to allow that for a moment, if that is of use: it is `wanted`, or has traps of ours. One
  /// that only goes has memory that cannot be read then.
  Result<std::shared_ptr<AddressSpace>> open_memory(Tid child,
                                                    const std::shared_ptr<AddressSpace>& creators,
                                                    bool wanted);
  /// Nobody in the tables has this memory any more. Unborn children may have copies.
  void memory_gone(const std::shared_ptr<AddressSpace>& memory);
  /// The first thread of a process is past its last instruction.
  void leader_exits() { has_lone_leaders_ = true; }
  /// A thread stops that is past its last stop: has another one its number? A thread that dies
  /// within exec may have its leader's, of the same process.
  bool is_replaced(const Thread& thread) const;
  /// The number of this process or thread is somebody else's by now. A process has become another
  /// program by a thread that nobody traces; the debugger is told that it has ended.
  void forget(const Thread& replaced);

  /// Is look() to be called now and then?
  bool any() const { return !waiting_.empty() || has_lone_leaders_; }
  /// Lets go those who are not told of any more, and forgets those who were replaced.
  void look();
  void process_gone() { has_one_gone_ = true; }
  /// When no process is left that the debugger knows: nobody may look at stops any more. Waits, for
  /// a moment, until nobody is left whom we trace.
  void see_off();

 private:
  struct One {
    int status = 0;
    uint64_t noted = 0;
    int64_t since_ns = 0;
    std::shared_ptr<AddressSpace> memory;  // its creator's, if that is known and not to tell more
  };
  bool is_ours(Tid tid) const;
  bool is_second(Tid child, uint64_t noted);
  bool may_be_told(Tid tid, const One& one);
  void let_go(Tid tid);
  static bool may_not_be_opened(Tid child);
  bool await_first_stop(Tid child);
  Result<std::shared_ptr<AddressSpace>> open_by_itself(
      Tid child, const std::shared_ptr<AddressSpace>& creators);
  std::shared_ptr<AddressSpace> creators_memory(Tid tid) const;
  std::shared_ptr<AddressSpace> shared_by(Tid tid) const;
  std::shared_ptr<AddressSpace> origin_of(const AddressSpace& copy) const;
  void finish(Tid tid);
  void forget_lone_leaders();
  bool has_strangers() const;

  Core& core_;
  Owner& owner_;
  std::map<Tid, One> waiting_;  // in the stop that they were noted in
  std::map<Tid, Tid> told_;     // children by number, and who tells, from the stop on
  std::map<Tid, std::shared_ptr<AddressSpace>> orphans_;  // told, and not stopped yet
  std::map<Tid, uint64_t> ended_;  // untold, when: an event may still tell the number
  std::deque<std::shared_ptr<AddressSpace>> gone_;  // memories
  uint64_t now_ = 0;
  int64_t looked_ns_ = 0;
  int said_ = 0;
  bool has_lone_leaders_ = false, has_one_gone_ = false;
};

}  // namespace tracewell::target::live
