// Lets a stopped thread run, and asks one that runs to stop: requests to the kernel, and what is
// known of the thread behind them. Whether it may run on from where it stands is for others to say.
#pragma once

#include <cstdint>
#include <optional>

#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

void ask_to_stop(Thread& thread);
/// Is its next start to be a single step: for the debugger, or for while-stepping?
bool wants_step(const Thread& thread);
/// What is pending stops it again, before anything runs.
void let_come(Thread& thread);
/// Does so where a trap of its own is still to come. False: there is none.
bool let_trap_come(Thread& thread);
/// Before a thread leaves a stop that may have interrupted a call.
void avoid_forbidden_restart(Thread& thread);

class Starter {
 public:
  explicit Starter(RegisterBlocks& registers) : registers_(registers) {}

  /// `from`: where the program was before the step, if it is in code of ours by now.
  void start(Thread& thread, bool step, int signal, std::optional<uint64_t> from = {});

 private:
  RegisterBlocks& registers_;
};

}  // namespace tracewell::target::live
