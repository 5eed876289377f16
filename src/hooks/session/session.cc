#include "hooks/session/session.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_use.h"
#include "hooks/session/collector_sleep.h"
#include "hooks/session/losses.h"
#include "hooks/session/session_log.h"

namespace tracewell::hooks {
namespace {

constexpr uint32_t kSlots = 32;
constexpr uint32_t kSlotsMin = kBufferBytesMin / TRACEWELL_PACKET_BYTES_MIN;
// The packets of a large ring are no larger than they have to be: those that are being filled and
// written are to fit a processor's cache.
constexpr uint64_t kPacketUsual = 256 << 10;
constexpr long kClockBaseNs = 20'000'000;  // between the two looks at the clocks at the start
constexpr long kLookAgainNs = 5'000'000;
constexpr long kFollowNs = 1'000'000'000;  // a collector that is not scheduled sooner is stuck

Error none_active(const Control& control, unsigned channel) {
  const std::string why = control.why(channel);
  return {Errc::NotFound,
          fmt::format("no trace runs on channel {}{}{}", channel,
                      why.empty() ? "" : "; the last one has ended: ", why),
          {}};
}

void wait_ns(long ns) {
  timespec time{0, ns};
  nanosleep(&time, nullptr);
}

/// What became of a log that its channel's path does not lead to any more.
Error log_is_gone(const Control& control, unsigned number, const Result<Folder>& there,
                  const char* what_now) {
  const std::string log = printable(log_of(control.channel(number)));
  if (::access(log_of(control.channel(number)).c_str(), R_OK | W_OK | X_OK) != 0 &&
      errno == EACCES)
    return errno_error(fmt::format("cannot write to the log {} ({} Once it can be written, "
                                   "`trcdead {}` takes what is still in buffers)",
                                   log, what_now, log));
  if (there.ok() && is_claimed_by(*there, control.path()))
    return {Errc::Io, fmt::format("{} is the log of another trace now, which stays as it is. {} "
                                  "(Who else may write to the folder that it is in? `trcdead` with "
                                  "the new path of this trace's log takes what is there.)",
                                  log, what_now),
            {}};
  // A collector that could look has seen what became of it.
  const bool seen = control.why(number).find("was removed") != std::string::npos;
  const char* moved =
      seen ? "" : " (Was it moved? `trcdead` with its new path takes what is there.)";
  return {Errc::Io, fmt::format("{} was removed while the trace ran into it; the hooks that were "
                                "there are gone. {}{}",
                                log, what_now, moved),
          {}};
}

/// Somebody may remove a log that is being written, and somebody else make it anew. One that was
/// moved is followed by the collector, which looks now and then.
/// The result is what is to be written to: its name may lead elsewhere at any time.
Result<Folder> find_log(const Control& control, unsigned number, const char* what_now) {
  for (long ns = 0;; ns += kLookAgainNs) {
    auto log = open_own_log(log_of(control.channel(number)));
    if (log.ok() && is_log_of(*log, control, number)) return log;
    if (!log.ok() && log.error().code == Errc::InvalidArgument) return log.error();
    if (ns >= kFollowNs || !control.has_collector(number))
      return log_is_gone(control, number, log, what_now);
    wait_ns(kLookAgainNs);
  }
}

void set_bit(std::span<uint8_t> bits, size_t index, bool value) {
  const auto mask = static_cast<uint8_t>(1 << index % 8);
  uint8_t& byte = bits[index / 8];
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

/// Is anything filtered?
bool fill_filter(std::span<uint8_t> bits, const SessionOptions& options) {
  std::ranges::fill(bits, options.only ? 0x00 : 0xff);
  if (options.only)
    for (const uint16_t id : *options.only) set_bit(bits, id, true);
  for (const uint16_t id : options.except) set_bit(bits, id, false);
  return options.only || !options.except.empty() || !options.cpus.empty();
}

void describe(tracewell_channel& channel, const SessionOptions& options, const Instant& start) {
  channel = {};
  channel.mode = static_cast<uint32_t>(options.buffering);
  const uint64_t page = TRACEWELL_HOOK_PAGE;
  const uint64_t wanted = std::max(std::min(options.buffer_bytes / kSlots, kPacketUsual),
                                   options.buffer_bytes / TRACEWELL_RING_SLOTS_MAX);
  channel.packet_bytes = static_cast<uint32_t>(std::clamp<uint64_t>(
      wanted / page * page, TRACEWELL_PACKET_BYTES_MIN, TRACEWELL_PACKET_BYTES_MAX));
  channel.slots = static_cast<uint32_t>(std::clamp<uint64_t>(
      options.buffer_bytes / channel.packet_bytes, kSlotsMin, TRACEWELL_RING_SLOTS_MAX));
  channel.log_bytes = options.log_bytes;
  channel.stop_when_full = options.stop_when_full;
  channel.ticks = start.ticks;
  channel.time_ns = start.time_ns;
  channel.monotonic_ns = start.monotonic_ns;
  options.log.copy(channel.log, sizeof channel.log - 1);
  channel.processes = static_cast<uint32_t>(options.processes.size());
  channel.threads = static_cast<uint32_t>(options.threads.size());
  channel.propagation = options.propagation;
  std::ranges::copy(options.processes, channel.process);
  std::ranges::copy(options.threads, channel.thread);
  channel.cpus = static_cast<uint32_t>(options.cpus.size());
  for (const uint32_t cpu : options.cpus) set_bit(channel.cpu, cpu, true);
}

}  // namespace

Result<std::string> default_log(StateUse use) {
  const auto defaults = read_defaults();
  const char* named = ::secure_getenv("TRACEWELL_LOG");
  if ((!named || !*named) && defaults.ok() && defaults->log) return *defaults->log;
  return state_path("TRACEWELL_LOG", "/var/adm/ras/trcfile", "trcfile", use);
}

namespace {

/// What the log begins with; then hooks may fire.
Status begin_session(Control& control, const SessionOptions& options, const Folder& log) {
  tracewell_channel& channel = control.channel(options.channel);
  TW_ASSIGN_OR_RETURN(const UniqueFd claim, claim_log(log, control.path()));
  // Programs of this user only: also when the log's folder is everybody's.
  const uint32_t session = ((control.state(options.channel) >> TRACEWELL_STATE_SESSION_SHIFT) + 1) &
                           TRACEWELL_SESSION_MASK;
  const Instant start = now();
  describe(channel, options, start);
  channel.session = session == 0 ? 1 : session;
  if (::getrandom(channel.uuid, sizeof channel.uuid, 0) != sizeof channel.uuid)
    return errno_error("random numbers");
  forget_dead_losses(control);
  control.set_failures(options.channel, 0);
  control.watch(options.channel) = {};
  control.watch(options.channel).session = channel.session;
  control.forget_collector(options.channel);
  const bool filtered = fill_filter(control.filter(options.channel), options);
  wait_ns(kClockBaseNs);
  LogFacts facts = options.facts;
  facts.emplace_back("channel", fmt::format("{}", options.channel));
  const LogClock clock = measure_clock(start, now());
  channel.hertz = clock.hertz;
  TW_RETURN_IF_ERROR(write_metadata(
      log, metadata_text(uuid_of(channel), clock, facts, options.record_cpus)));
  const uint32_t state = channel.session << TRACEWELL_STATE_SESSION_SHIFT |
                         (filtered ? TRACEWELL_STATE_FILTERED : 0) |
                         (options.record_cpus ? TRACEWELL_STATE_CPU : 0);
  channel.active = 1;
  control.set_state(options.channel, state);
  if (options.off) return {};
  TW_RETURN_IF_ERROR(
      tell(channel, log, fmt::format("TRACE ON channel {}", options.channel)));
  control.set_state(options.channel, state | TRACEWELL_STATE_ON);
  return {};
}

}  // namespace

Status start_session(Control& control, const SessionOptions& options) {
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  tracewell_channel& channel = control.channel(options.channel);
  if (channel.active != 0)
    return {Errc::InvalidArgument,
            fmt::format("a trace runs on channel {} into {} (trcstop ends it)", options.channel,
                        printable(log_of(channel)))};
  if (options.log.size() >= sizeof channel.log || !options.log.starts_with('/'))
    return {Errc::InvalidArgument, "the log's path is too long"};
  for (const unsigned other : active_channels(control))
    if (is_same_log(log_of(control.channel(other)), options.log))
      return {Errc::InvalidArgument,
              fmt::format("{} is the log of the trace on channel {}", printable(options.log),
                          other)};
  if (std::max(options.processes.size(), options.threads.size()) > TRACEWELL_CHOSEN_MAX)
    return {Errc::Limit, fmt::format("more than {} processes or threads", TRACEWELL_CHOSEN_MAX)};
  for (const uint32_t cpu : options.cpus)
    if (cpu >= TRACEWELL_CPUS_MAX)
      return {Errc::Limit, fmt::format("processor {}, and {} is the last", cpu,
                                       TRACEWELL_CPUS_MAX - 1)};
  TW_ASSIGN_OR_RETURN(
      const Folder log,
      make_log_folder(options.log,
                      options.keep_old_log ? file_name_of(options.log) + ".old" : std::string()));
  Status status = begin_session(control, options, log);
  if (status.ok()) return {};
  // Nothing was recorded, and what is left would be in the way of the next try.
  channel.active = 0;
  best_effort(remove_log_folder(log));
  return status;
}

Status switch_tracing(Control& control, unsigned number, bool on) {
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  tracewell_channel& channel = control.channel(number);
  if (channel.active == 0) return none_active(control, number);
  const uint32_t before = control.state(number);
  const uint32_t after = on ? before | TRACEWELL_STATE_ON : before & ~TRACEWELL_STATE_ON;
  if (after == before) return {};
  // The mark's time is outside of what was traced.
  if (!on) control.set_state(number, after);
  TW_ASSIGN_OR_RETURN(const Folder log,
                      find_log(control, number, on ? "It goes nowhere: trcstop ends it."
                                                   : "It is off now."));
  TW_RETURN_IF_ERROR(
      tell(channel, log, fmt::format("TRACE {} channel {}", on ? "ON" : "OFF", number)));
  if (on) control.set_state(number, after);
  return {};
}

namespace {

/// Whoever writes to the log, the collector of its session has ended: it will not take long.
Status lock_log_soon(const UniqueFd& lock, const Folder& log) {
  for (long ns = 0; !lock_file(lock.get()).ok(); ns += kLookAgainNs) {
    if (ns >= kFollowNs)
      return {Errc::Io,
              fmt::format("the trace has ended, but somebody writes to its log: once nobody does, "
                          "`trcdead {}` takes what is still in buffers",
                          printable(log.path()))};
    wait_ns(kLookAgainNs);
  }
  return {};
}

/// A collector holds its locks until it has ended; it leaves the end of the log to us.
Status wait_and_complete(Control& control, unsigned number, Rest rest,
                         std::optional<Folder>* held) {
  TW_RETURN_IF_ERROR(control.wait_for_collector(number));
  // But for a session whose control file was removed: it has ended that.
  if (control.channel(number).active == 0)
    return {Errc::Io, "the trace has ended: " + control.why(number)};
  auto log = find_log(control, number, "The trace has ended.");
  if (!log.ok()) return with_losses(log.error(), losses_of(control, number));
  const auto lock = open_log_lock(*log);
  const Status locked = lock.ok() ? lock_log_soon(*lock, *log) : lock.error();
  if (!locked.ok()) return incomplete(control, number, *log, locked.error());
  const Status status = complete_log(control, number, *log, rest);
  release_log(*log);
  if (!status.ok() && has_rings(*log))
    return {status.error().code,
            fmt::format("{}. The trace has ended; `trcdead {}` puts what is still in buffers into "
                        "the log, once that is mended",
                        status.error().text(), printable(log->path()))};
  if (held != nullptr) *held = *std::move(log);
  return status;
}

Result<UniqueFd> lock_unless(const GivesUp& gives_up, const Control& control) {
  while (gives_up) {
    auto lock = control.try_lock();
    if (lock.ok()) return lock;
    if (!control.is_locked()) break;
    if (gives_up()) return {Errc::Io, "another command of trace hooks does not end"};
    wait_ns(kLookAgainNs);
  }
  return control.lock();
}

bool collector_ends(const Control& control, unsigned number, const GivesUp& gives_up) {
  for (; gives_up && control.has_collector(number); wait_ns(kLookAgainNs))
    if (gives_up()) return false;
  return true;
}

}  // namespace

Status stop_session(Control& control, unsigned number, Rest rest, const GivesUp& gives_up,
                    std::optional<Folder>* log) {
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, lock_unless(gives_up, control));
  tracewell_channel& channel = control.channel(number);
  if (channel.active == 0) return none_active(control, number);
  control.set_state(number, control.state(number) & ~TRACEWELL_STATE_ON);
  std::atomic_ref(channel.stopping).store(rest == Rest::Kept ? kStop : kStopDiscarding);
  wake_collector(channel);
  if (!collector_ends(control, number, gives_up))
    return {Errc::Io, "the collector of the trace does not end"};
  // Also a log that cannot be completed, or was removed meanwhile, is over.
  const Status status = wait_and_complete(control, number, rest, log);
  if (channel.active != 0) control.forget_collector(number);
  channel.active = 0;
  forget_dead_losses(control);
  return status;
}

std::vector<unsigned> active_channels(const Control& control) {
  std::vector<unsigned> out;
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active != 0) out.push_back(i);
  return out;
}

unsigned channel_of(const Control& control, const std::optional<unsigned>& asked) {
  if (asked) return *asked;
  const auto active = active_channels(control);
  return active.size() == 1 ? active[0] : 0;
}

Result<unsigned> free_channel(const Control& control) {
  for (unsigned i = 1; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active == 0) return i;
  return {Errc::Limit, "all channels from 1 to 7 are in use"};
}

std::string log_path_of(const Control& control, unsigned channel) {
  return log_of(control.channel(channel));
}

}  // namespace tracewell::hooks
