// A live server: the process that traces, a target, its trace, and the connection that debuggers
// come by, put together and served until the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "agent/fast/fast_trace.h"
#include "base/result.h"
#include "server/connection/admission.h"
#include "server/connection/transport.h"
#include "server/live/loop.h"
#include "server/live/settings.h"
#include "target/target.h"

namespace tracewell::server {

struct LiveOptions {
  Comm comm;
  Admission admission;
  target::Processes::LaunchOptions launch;  // argv empty: no program
  std::optional<target::Pid> attach;        // instead of a program
  bool attach_running = false;              // and it runs on
  bool multi = false, once = false;
  std::set<std::string, std::less<>> disabled;  // for agent::SessionOptions
  std::string buffer;  // file for the trace buffer; "" = one in the usual place
  agent::FastUse fast = agent::FastUse::All;
  bool tells_of_sysroot = false;  // that GDB on this machine connects sooner with one
  /// Told what the process that the user started has to say by itself (guardian.h).
  std::function<void(std::string_view)> tell;
};

struct LiveEnd {
  ServerEnd end = ServerEnd::Done;
  int signal = 0;  // Interrupted: by which
};

/// Returns in the process that traces; the one that called exits as that one does.
Result<LiveEnd> serve_live(LiveOptions options, ServeSettings& settings);

}  // namespace tracewell::server
