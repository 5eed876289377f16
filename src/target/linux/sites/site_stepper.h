// Takes threads past what is patched (a site of a tracepoint, or a breakpoint that is not to be
// told): they run a copy of the instruction, or the original where it stands. And knows when a
// signal handler brings one back to a site whose hit was counted.
#pragma once

#include <cstdint>
#include <functional>

#include "target/linux/inject/arenas.h"
#include "target/linux/stops/starter.h"
#include "target/linux/stops/stopper.h"

namespace tracewell::target::live {

class SiteStepper {
 public:
  SiteStepper(StopCollector& stops, Late& late, Starter& starter, Stopper& stopper, Arenas& arenas,
              const std::function<bool()>& gives_up)
      : stops_(stops),
        late_(late),
        starter_(starter),
        stopper_(stopper),
        arenas_(arenas),
        gives_up_(gives_up) {}

  /// Starts a thread that stands at the patch, and whose hit was counted.
  void pass(Thread& thread, uint64_t address, Patch& patch);
  /// How to get past the patch. Called when a thread stands there, or ahead of that when one could
  /// help; failing to map memory is no failure, the instruction is then stepped in place.
  void prepare_copy(Thread& thread, uint64_t address, Patch& patch);
  /// One that is stopped in a copy comes to stand where the program would.
  void settle(Thread& thread);

  /// The call of a site that was made in its place is over.
  void call_left(Thread& thread);
  /// The thread stands at the first instruction of a signal handler.
  void handler_entered(Thread& thread);
  /// It stands where a handler was to return to, and has not: that one never will.
  void forget_handler(Thread& thread);
  /// Has a handler returned to a site just now? Its hit is counted then.
  bool returned_to_site(Thread& thread);

 private:
  void step_in_place(Thread& thread, uint64_t address);
  void system_call_in_place(Thread& thread, uint64_t address);

  StopCollector& stops_;
  Late& late_;
  Starter& starter_;
  Stopper& stopper_;
  Arenas& arenas_;
  const std::function<bool()>& gives_up_;
};

}  // namespace tracewell::target::live
