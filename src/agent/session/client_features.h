#pragma once

namespace tracewell::agent {

/// What the debugger said it understands (qSupported).
struct ClientFeatures {
  bool multiprocess = false;
  bool swbreak = false, hwbreak = false;
  bool fork_events = false, vfork_events = false, exec_events = false;
  bool no_resumed = false;
  bool symbols = false;  // it has some (qSymbol::)
};

}  // namespace tracewell::agent
