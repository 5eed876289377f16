#include "hooks/session.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/text.h"
#include "hooks/collector.h"
#include "hooks/collector_sleep.h"
#include "hooks/defaults.h"
#include "hooks/log_clock.h"

namespace tracewell::hooks {
namespace {

constexpr uint32_t kSlots = 32;
constexpr uint32_t kSlotsMin = 4;
constexpr long kClockBaseNs = 20'000'000;  // between the two looks at the clocks at the start
constexpr uint32_t kSessionMask = 0xffffff;

Uuid uuid_of(const tracewell_channel& channel) {
  Uuid out;
  std::memcpy(out.data(), channel.uuid, out.size());
  return out;
}

Instant start_of(const tracewell_channel& channel) {
  return {channel.ticks, channel.time_ns, channel.monotonic_ns};
}

std::string log_of(const tracewell_channel& channel) {
  return {channel.log, ::strnlen(channel.log, sizeof channel.log)};
}

Error none_active(unsigned channel) {
  return {Errc::NotFound, fmt::format("no trace runs on channel {}", channel), {}};
}

/// Somebody may remove a log that is being written.
Status check_log_is_there(const std::string& log, const char* what_now) {
  struct stat about {};
  if (::stat((log + "/metadata").c_str(), &about) == 0 || errno != ENOENT) return {};
  return {Errc::Io, fmt::format("{} was removed while the trace ran into it; the hooks that were "
                                "there are gone. {}",
                                printable(log), what_now)};
}

/// Also by another name: the folder of one may be reached through a symbolic link.
bool is_same_log(const std::string& log, const std::string& other) {
  std::error_code none;
  return log == other || std::filesystem::equivalent(log, other, none);
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

void wait_ns(long ns) {
  timespec time{0, ns};
  nanosleep(&time, nullptr);
}

/// The collector's lock; whoever waits for it waits for the collector.
Result<UniqueFd> open_log_lock(const std::string& log) {
  const std::string path = log + "/.lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return errno_error(path);
  return fd;
}

Status tell(const tracewell_channel& channel, const std::string& text) {
  return add_mark(log_of(channel), uuid_of(channel), text);
}

Result<LogFolder> open_log(const tracewell_channel& channel) {
  return LogFolder::open(log_of(channel), {channel.log_bytes, channel.stop_when_full != 0});
}

Status tell_dropped(const tracewell_channel& channel, LogFolder& log) {
  const uint64_t dropped = log.take_dropped();
  if (dropped == 0) return {};
  return tell(channel, fmt::format("LOGFILE WRAPAROUND, {} records dropped", dropped));
}

/// Everything out of the rings, the clock measured over the whole session.
Status complete_log(Control& control, unsigned number) {
  tracewell_channel& channel = control.channel(number);
  TW_ASSIGN_OR_RETURN(LogFolder log, open_log(channel));
  Collector collector(log_of(channel), log);
  TW_RETURN_IF_ERROR(collector.finish());
  TW_RETURN_IF_ERROR(tell_dropped(channel, log));
  if (const uint64_t failed = control.failures(number); failed != 0)
    TW_RETURN_IF_ERROR(
        tell(channel, fmt::format("{} records lost: their threads could not make a ring", failed)));
  TW_RETURN_IF_ERROR(tell(channel, fmt::format("TRACE OFF channel {}", number)));
  return change_clock(log_of(channel), measure_clock(start_of(channel), now()));
}

void describe(tracewell_channel& channel, const SessionOptions& options, const Instant& start) {
  channel = {};
  channel.mode = static_cast<uint32_t>(options.buffering);
  const uint64_t page = TRACEWELL_HOOK_PAGE;
  const uint64_t wanted = options.buffer_bytes / kSlots / page * page;
  channel.packet_bytes = static_cast<uint32_t>(std::clamp<uint64_t>(
      wanted, TRACEWELL_PACKET_BYTES_MIN, TRACEWELL_PACKET_BYTES_MAX));
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

std::string default_log() {
  const auto defaults = read_defaults();
  const char* named = std::getenv("TRACEWELL_LOG");
  if ((!named || !*named) && defaults.ok() && defaults->log) return *defaults->log;
  return state_path("TRACEWELL_LOG", "/var/adm/ras/trcfile", "trcfile");
}

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
  TW_RETURN_IF_ERROR(make_log_folder(options.log, options.keep_old_log));
  // Programs of this user only: also when the log's folder is everybody's.
  const uint32_t session = ((control.state(options.channel) >> TRACEWELL_STATE_SESSION_SHIFT) + 1) &
                           kSessionMask;
  const Instant start = now();
  describe(channel, options, start);
  channel.session = session == 0 ? 1 : session;
  if (::getrandom(channel.uuid, sizeof channel.uuid, 0) != sizeof channel.uuid)
    return errno_error("random numbers");
  control.failures(options.channel) = 0;
  const bool filtered = fill_filter(control.filter(options.channel), options);
  wait_ns(kClockBaseNs);
  LogFacts facts = options.facts;
  facts.emplace_back("channel", fmt::format("{}", options.channel));
  const LogClock clock = measure_clock(start, now());
  channel.hertz = clock.hertz;
  TW_RETURN_IF_ERROR(
      write_metadata(options.log,
                     metadata_text(uuid_of(channel), clock, facts, options.record_cpus)));
  const uint32_t state = channel.session << TRACEWELL_STATE_SESSION_SHIFT |
                         (filtered ? TRACEWELL_STATE_FILTERED : 0) |
                         (options.record_cpus ? TRACEWELL_STATE_CPU : 0);
  channel.active = 1;
  control.set_state(options.channel, state);
  if (options.off) return {};
  TW_RETURN_IF_ERROR(tell(channel, fmt::format("TRACE ON channel {}", options.channel)));
  control.set_state(options.channel, state | TRACEWELL_STATE_ON);
  return {};
}

Status switch_tracing(Control& control, unsigned number, bool on) {
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  tracewell_channel& channel = control.channel(number);
  if (channel.active == 0) return none_active(number);
  const uint32_t before = control.state(number);
  const uint32_t after = on ? before | TRACEWELL_STATE_ON : before & ~TRACEWELL_STATE_ON;
  if (after == before) return {};
  if (on)
    TW_RETURN_IF_ERROR(check_log_is_there(log_of(channel), "It goes nowhere: trcstop ends it."));
  // The mark's time is outside of what was traced.
  if (on) TW_RETURN_IF_ERROR(tell(channel, fmt::format("TRACE ON channel {}", number)));
  control.set_state(number, after);
  if (!on) TW_RETURN_IF_ERROR(check_log_is_there(log_of(channel), "It is off now."));
  if (!on) TW_RETURN_IF_ERROR(tell(channel, fmt::format("TRACE OFF channel {}", number)));
  return {};
}

namespace {

/// A collector holds its lock until it has ended; it leaves the end of the log to us.
Status wait_and_complete(Control& control, unsigned number) {
  const std::string log = log_of(control.channel(number));
  TW_RETURN_IF_ERROR(check_log_is_there(log, "The trace has ended."));
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, open_log_lock(log));
  TW_RETURN_IF_ERROR(wait_and_lock_file(lock.get()));
  const Status status = complete_log(control, number);
  static_cast<void>(::unlink((log + "/.lock").c_str()));
  return status;
}

}  // namespace

Status stop_session(Control& control, unsigned number) {
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, control.lock());
  tracewell_channel& channel = control.channel(number);
  if (channel.active == 0) return none_active(number);
  control.set_state(number, control.state(number) & ~TRACEWELL_STATE_ON);
  std::atomic_ref(channel.stopping).store(1);
  wake_collector(channel);
  // Also a log that cannot be completed, or was removed meanwhile, is over.
  const Status status = wait_and_complete(control, number);
  channel.active = 0;
  return status;
}

std::vector<unsigned> active_channels(const Control& control) {
  std::vector<unsigned> out;
  for (unsigned i = 0; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active != 0) out.push_back(i);
  return out;
}

std::string log_path_of(const Control& control, unsigned channel) {
  return log_of(control.channel(channel));
}

Status run_collector(Control& control, unsigned number, const std::function<void()>& started) {
  tracewell_channel& channel = control.channel(number);
  const uint32_t session = channel.session;
  TW_ASSIGN_OR_RETURN(const UniqueFd lock, open_log_lock(log_of(channel)));
  TW_RETURN_IF_ERROR(lock_file(lock.get()));
  started();
  ask_for_short_turns();
  TW_ASSIGN_OR_RETURN(LogFolder log, open_log(channel));
  Collector collector(log_of(channel), log);
  CollectorSleep sleep(channel);
  while (channel.session == session && std::atomic_ref(channel.stopping).load() == 0) {
    TW_ASSIGN_OR_RETURN(const uint64_t taken, collector.collect());
    TW_RETURN_IF_ERROR(tell_dropped(channel, log));
    if (log.full()) {
      control.set_state(number, control.state(number) & ~TRACEWELL_STATE_ON);
      return tell(channel, fmt::format("TRACE OFF channel {}, the log is full", number));
    }
    if (taken != 0)
      sleep.found_something();
    else
      sleep.found_nothing();
  }
  return {};
}

}  // namespace tracewell::hooks
