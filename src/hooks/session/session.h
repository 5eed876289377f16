// Sessions of trace hooks: what `trace`, `trcon`, `trcoff` and `trcstop` do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/control/control.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_folder.h"
#include "hooks/session/rest.h"

namespace tracewell::hooks {

/// AIX's three ways to use buffers.
enum class Buffering : uint32_t {
  Alternate = TRACEWELL_RING_ALTERNATE,
  Circular = TRACEWELL_RING_CIRCULAR,
  Single = TRACEWELL_RING_SINGLE,
};

/// Of a thread's ring: it has 4 packets of 8 KiB at least, and 64 of 4 MiB at most.
constexpr uint64_t kBufferBytesMin = 4 * TRACEWELL_PACKET_BYTES_MIN;
constexpr uint64_t kBufferBytesMax =
    uint64_t{TRACEWELL_RING_SLOTS_MAX} * TRACEWELL_PACKET_BYTES_MAX;

struct SessionOptions {
  unsigned channel = 0;
  Buffering buffering = Buffering::Alternate;
  uint64_t buffer_bytes = 2 << 20;  // of a thread's ring; what is outside of the limits is cut
  uint64_t log_bytes = 0;           // 0 = any size
  bool stop_when_full = false;
  bool off = false;                 // begin with tracing off
  bool keep_old_log = false;
  std::string log;                  // absolute path
  std::optional<std::vector<uint16_t>> only;  // hook ids
  std::vector<uint16_t> except;
  std::vector<uint32_t> processes, threads;  // of whom; none = of everybody. 64 each at most
  uint32_t propagation = 0;                  // TRACEWELL_PROPAGATE_*
  std::vector<uint32_t> cpus;  // below TRACEWELL_CPUS_MAX; none = all processors
  bool record_cpus = false;    // each hook says on which processor it was
  LogFacts facts;
};

/// $TRACEWELL_LOG; what `trcctl -o` said; or /var/adm/ras/trcfile for root,
/// $XDG_STATE_HOME/tracewell/trcfile (~/.local/state/…) for others: state_path().
Result<std::string> default_log(StateUse use = StateUse::Read);

/// Makes the log and lets hooks of the channel fire. InvalidArgument when a session runs there.
Status start_session(Control& control, const SessionOptions& options);
/// NotFound when no session runs on the channel.
Status switch_tracing(Control& control, unsigned channel, bool on);
/// Asked again and again while others are waited for: shall that end?
using GivesUp = std::function<bool()>;
/// Ends the session; its log is complete then, and says how many hooks were discarded. It waits for
/// other commands, and for the collector to write what it has; where that is given up (an error),
/// the session is there still, for somebody else to end. `log`, unless it is nullptr, gets the log
/// that was completed, whatever its name is by then.
Status stop_session(Control& control, unsigned channel, Rest rest = Rest::Kept,
                    const GivesUp& gives_up = {}, std::optional<Folder>* log = nullptr);
/// Channels that a session runs on.
std::vector<unsigned> active_channels(const Control& control);
/// The channel asked for; 0; or the only one that is active.
unsigned channel_of(const Control& control, const std::optional<unsigned>& asked);
/// From 1 on. Limit when there is none.
Result<unsigned> free_channel(const Control& control);
std::string log_path_of(const Control& control, unsigned channel);

/// The work of an alternate session's collector, in a process of its own; returns when the session
/// is over. While it lives, it holds a lock on the log; `started` is called once it has that. It
/// follows a log that is moved. Where the control file goes, it ends the session itself; that, and
/// what keeps it from its work, is an error, which collector_trouble() tells, too.
Status run_collector(Control& control, unsigned channel, const std::function<void()>& started);
/// Of a session that runs, and whose collector does not: why, and what to do.
std::optional<std::string> collector_trouble(const Control& control, unsigned channel);

}  // namespace tracewell::hooks
