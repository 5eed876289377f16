// Has a stopped thread of the program make system calls for us, and gives it back all that it had.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/result.h"
#include "pads/code.h"
#include "target/linux/stops/late.h"
#include "target/linux/stops/stop_collector.h"
#include "target/linux/threads/thread_table.h"

namespace tracewell::target::live {

class Injector {
 public:
  Injector(const ThreadTable& threads, StopCollector& stops, Late& late,
           const std::function<bool()>& gives_up)
      : threads_(threads), stops_(stops), late_(late), gives_up_(gives_up) {}

  /// One of this memory that can make calls where it stands; `of` this process, or of any.
  Thread* injectable(const AddressSpace& space, const Process* of = nullptr) const;
  /// Number and arguments; what the kernel has answered. The thread may be gone then, or wait in
  /// the kernel.
  Result<int64_t> system_call(Thread& thread, const uint64_t (&call)[7]);
  void unmap(Thread& thread, std::span<const pads::Range> some);

  /// A thread that stands by a signal makes no calls. Where none of this memory can, one that does
  /// is taken to a stop without its signal. nullopt: there was no need, or none could be.
  struct Taken {
    Tid tid = 0;
    siginfo_t signal{};
    std::optional<StopEvent> pending;
    int deferred_signal = 0;
  };
  std::optional<Taken> take_signal(const AddressSpace& space);
  /// It stands by the same signal again, from the same sender.
  void put_back(const Taken& taken);

 private:
  bool interrupt(Thread& thread);
  static bool is_ours(const Thread& thread, int signal);
  Status lend(Thread& thread), give_back(Thread& thread);
  Result<int64_t> call_lent(Thread& thread, const uint64_t (&call)[7]);
  /// To the exit of the call, whose registers are set: true. The program may have had the thread
  /// led elsewhere, or others write over the instruction: no other call than ours is let through.
  bool make_call(Thread& thread, const uint64_t (&call)[7]);
  /// On to the entry or the exit of a call: true.
  bool run(Thread& thread);

  const ThreadTable& threads_;
  StopCollector& stops_;
  Late& late_;
  const std::function<bool()>& gives_up_;
};

}  // namespace tracewell::target::live
