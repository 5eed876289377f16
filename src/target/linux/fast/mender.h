// Loads of hits that fail in a program that handles faults itself: the program hears nothing.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/linux/fast/fast_code.h"
#include "target/linux/fast/fault_handlers.h"
#include "target/linux/inject/far_memory.h"
#include "target/linux/inject/injector.h"
#include "target/linux/stops/stopper.h"
#include "target/linux/stops/wishes.h"

namespace tracewell::target::live {

/// A load of a hit has failed there.
void note_failed_load(const Wishes& wishes, const Thread& thread, uint64_t address);

class Mender {
 public:
  Mender(const ThreadTable& threads, StopCollector& stops, Stopper& stopper, Injector& injector,
         FarMemory& memory, const Wishes& wishes)
      : threads_(threads),
        stops_(stops),
        stopper_(stopper),
        injector_(injector),
        memory_(memory),
        wishes_(wishes) {}

  /// A load has failed by this signal, and the thread stands behind it.
  void mend(Thread& thread, int signal, uint64_t address);
  /// The program is about to get a signal of a fault.
  bool before_signal(Thread& thread, int signal);
  /// Asks the kernel for them, by calls of this thread. Where hits are to write down newer ones.
  Result<uint64_t> learn(Pid pid, Thread& thread);
  void take_newer_handlers(AddressSpace& space);

 private:
  Result<FaultAction> action_of(Thread& thread, int signal);
  bool has_failed(Thread& thread, int signal);
  Thread* let_signal_come(Tid tid);
  void put_back_first(const AddressSpace& space, Tid but, int signal);
  void put_back(Thread& thread, int signal);

  const ThreadTable& threads_;
  StopCollector& stops_;
  Stopper& stopper_;
  Injector& injector_;
  FarMemory& memory_;
  const Wishes& wishes_;
};

}  // namespace tracewell::target::live
