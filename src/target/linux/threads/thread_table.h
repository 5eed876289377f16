// The traced processes and their threads, by number.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "target/linux/threads/tracee.h"
#include "target/target.h"

namespace tracewell::target::live {

class ThreadTable {
 public:
  using Processes = std::map<Pid, std::unique_ptr<Process>>;
  using ByNumber = std::unordered_map<Tid, std::unique_ptr<Thread>>;

  /// Who has to know what comes into the table, and what leaves it.
  class Watcher {
   public:
    virtual void on_added(Thread& thread) = 0;
    /// It counts as past its last instruction, and is in the table still.
    virtual void on_removal(Thread& thread) = 0;
    virtual void on_process_removed() = 0;

   protected:
    ~Watcher() = default;
  };

  explicit ThreadTable(Watcher& watcher) : watcher_(watcher) {}
  ThreadTable(const ThreadTable&) = delete;
  ThreadTable& operator=(const ThreadTable&) = delete;

  // nullptr: there is none.
  Thread* find(Tid tid) const;
  Process* find_process(Pid pid) const;
  /// That is not past its last instruction.
  Thread* first_thread(Pid pid) const;
  std::vector<Thread*> threads_of(const Process& process) const, all() const;
  const Processes& processes() const { return processes_; }
  const ByNumber& by_number() const { return threads_; }
  bool is_32_bit(Pid pid) const;  // of one that is gone: as the last one was

  /// Whoever had the number is removed.
  Process& add_process(Pid pid, std::shared_ptr<AddressSpace> space);
  Thread& add_thread(Process& process, Tid tid);
  void remove_thread(Tid tid);
  void remove_process(Pid pid);  // with its threads

  /// What was removed lives on until forget_removed(), because callers may hold it. So does this
  /// memory, which a process had.
  void keep(std::shared_ptr<AddressSpace> memory);
  void forget_removed() { removed_ = {}; }

 private:
  struct Removed {
    std::vector<std::unique_ptr<Thread>> threads;
    std::vector<std::unique_ptr<Process>> processes;
    std::vector<std::shared_ptr<AddressSpace>> memories;
  };
  Watcher& watcher_;
  Processes processes_;
  ByNumber threads_;
  Removed removed_;
  bool last_gone_32_bit_ = false;
};

}  // namespace tracewell::target::live
