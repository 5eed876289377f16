// What has happened, or was asked for, and has not been told to the debugger.
#pragma once

#include <deque>
#include <vector>

#include "target/target.h"

namespace tracewell::target::live {

struct Untold {
  std::deque<StopEvent> gone;  // processes and threads that ended
  std::vector<Tid> rivals;     // parked at breakpoints of the debugger's
  bool is_something_pending = false;  // some thread may have an event to be told
  bool interrupt_wanted = false;
  Tid last_told = 0;

  /// Nobody is to be told of the end of this process, or of its threads.
  void forget(Pid pid) {
    std::erase_if(gone, [&](const StopEvent& event) { return event.pid == pid; });
  }
};

}  // namespace tracewell::target::live
