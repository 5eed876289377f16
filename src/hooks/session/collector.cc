#include "hooks/session/collector.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "ring/ring_name.h"

namespace tracewell::hooks {
namespace {

constexpr uint64_t kRoundsPerCensus = 256;
// A thread that was scheduled away in the middle of a record comes back; one that has stopped in a
// signal handler may not.
constexpr std::chrono::milliseconds kFinishWait{100};
constexpr long kFinishPauseNs = 1'000'000;

void wait_a_little(long ns) {
  timespec time{0, ns};
  nanosleep(&time, nullptr);
}

/// Of records with a processor, as log_metadata.cc declares them. A reader of CTF refuses what is
/// not declared.
bool declares_cpus(const Folder& log) {
  const auto text = read_metadata(log);
  const unsigned id = TRACEWELL_RECORD_CPU << 8 | TRACEWELL_RECORD_WORDS_64;
  return !text.ok() || text->find(fmt::format("\n  id = {};\n", id)) != std::string::npos;
}

}  // namespace

Collector::Collector(const Folder& folder, LogFolder& log, const Uuid& session, uint64_t ticks,
                     std::optional<LogClock> clock)
    : folder_(folder),
      log_(log),
      session_(session),
      clock_(clock),
      within_{ticks, clock ? ticks_at(*clock, now().time_ns) : 0, declares_cpus(folder)} {}
Collector::~Collector() = default;

/// The packet's time goes on from those before it in the log, if it is none that is there.
Within Collector::within(const RingFile& ring, uint64_t packet) const {
  Within out = within_;
  if (packet >= log_.next_number(ring.stream()))
    out.first = std::max(out.first, log_.ticks_end(ring.stream()));
  return out;
}

/// Looks into the folder only when something was made or removed there since.
Status Collector::find_rings() {
  const auto about = folder_.facts_of_name(kRingsName);
  if (!about) return errno_error("cannot look for " + printable(folder_.path_of(kRingsName)));
  const int64_t changed = about->changed_ns;
  if (changed == folder_changed_ns_) return {};
  TW_ASSIGN_OR_RETURN(const Folder rings, folder_.inside(kRingsName));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, rings.names());
  std::map<std::string, bool> unfinished;
  others_.clear();
  for (const std::string& name : names) {
    if (name[0] == '.' || rings_.contains(name) || broken_.contains(name)) continue;
    bool untouched = false;
    auto ring = RingFile::open(rings, name, &untouched);
    if (ring.ok() && (*ring)->is_of(session_)) {
      if ((*ring)->process_lives() && !(*ring)->is_unsettled()) ends_.watch((*ring)->pid_here());
      rings_.emplace(name, *std::move(ring));
    } else if (ring.ok()) {
      others_.insert(name);
    } else if (ring.error().code == Errc::Unsupported) {
      TW_RETURN_IF_ERROR(tell_unknown(name, ring.error()));
    } else if (ring.error().code == Errc::Truncated) {
      const auto before = unfinished_.find(name);
      unfinished[name] = before == unfinished_.end() ? untouched : before->second;
    } else if (tracewell_ring named; tracewell::ring::take_ring_name(name, named)) {
      broken_.emplace(name, ring.error().text());
    }
  }
  unfinished_ = std::move(unfinished);
  // A change within the same tick of the file system's clock must not be overlooked.
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  folder_changed_ns_ = unfinished_.empty() && now_ns - changed > 100'000'000 ? changed : -1;
  return {};
}

/// Programs that end at once leave many rings whose processes are not here. One look at what is in
/// PID namespaces below does for all of them.
void Collector::settle_rings(bool at_once) {
  if (std::ranges::none_of(rings_, [](const auto& one) { return one.second->is_unsettled(); }))
    return;
  const int64_t begin_ns = now().monotonic_ns;
  if (!at_once && !settling_.is_due(begin_ns)) return;
  const auto nested = NestedProcesses::look();
  for (const auto& [name, ring] : rings_) {
    if (!ring->is_unsettled()) continue;
    ring->settle(nested);
    if (ring->process_lives()) ends_.watch(ring->pid_here());
  }
  settling_.took(begin_ns, now().monotonic_ns);
}

Status Collector::tell(const std::string& text) {
  const Instant at = now();
  return add_mark(folder_, session_, text, clock_ ? ticks_at(*clock_, at.time_ns) : at.ticks,
                  &marks_);
}

/// Where it says so, `check` and reports count it.
Status Collector::tell_lost(uint64_t records, const std::string& why) {
  return tell(fmt::format("{} records lost: {}", records, why));
}

/// Once in a while, for all of the ring until then; and `now`, before it goes.
Status Collector::tell_mistaken(const std::string& ring, bool now) {
  constexpr std::chrono::seconds kWhile{1};
  const auto found = mistaken_.find(ring);
  if (found == mistaken_.end() || found->second.records == 0) return {};
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - found->second.told < kWhile) return {};
  found->second.told = time;
  TW_RETURN_IF_ERROR(tell_lost(found->second.records,
                               fmt::format("process {} had the id of an earlier one",
                                           ring.substr(0, ring.find('-')))));
  found->second.records = 0;
  return {};
}

/// Once for each ring.
Status Collector::tell_bounded(const std::string& ring) {
  if (!bounded_.insert(ring).second) return {};
  return tell_lost(0, fmt::format("in the buffer {} stood times that were not in the trace; its "
                                  "records have the nearest that is",
                                  ring));
}

/// Of a ring that nobody wrote to nothing is lost: its program ended while it made it.
Status Collector::tell_broken() {
  std::map<std::string, std::string> all = broken_;
  for (const auto& [name, untouched] : unfinished_) {
    if (untouched)
      TW_RETURN_IF_ERROR(remove(name));
    else
      all.emplace(name, "its head is not there");
  }
  constexpr size_t kToldMax = 64;
  size_t told = 0;
  for (const auto& [name, why] : all)
    if (told++ < kToldMax)
      TW_RETURN_IF_ERROR(tell_lost(0, fmt::format("those of process {} are in a buffer that cannot "
                                                  "be read ({}: {})",
                                                  name.substr(0, name.find('-')), name,
                                                  printable(why))));
  if (all.size() <= kToldMax) return {};
  return tell_lost(0, fmt::format("{} more buffers cannot be read", all.size() - kToldMax));
}

/// Programs of releases before make them where the path of their log leads, whichever log has the
/// name by then. What is in them is nobody's but their session's, whose log cannot tell of them. Or
/// it is of this one, and somebody has changed what their heads say.
Status Collector::tell_others() {
  if (others_.empty()) return {};
  return tell_lost(0, fmt::format("{} buffers in {} say that they are of other traces: `trcdead -o "
                                  "OTHER_LOG` takes each of them",
                                  others_.size(), kRingsName));
}

/// Once for each: it stays there, for a release that can read it.
Status Collector::tell_unknown(const std::string& name, const Error& error) {
  if (!unknown_.insert(name).second) return {};
  return tell_lost(0, fmt::format("those of process {} are in a buffer that only its own release "
                                  "can read ({})",
                                  name.substr(0, name.find('-')), printable(error.text())));
}

/// Whoever cuts a ring's file has lost what was there: its own hooks, and nobody else's.
Status Collector::give_up_cut() {
  for (auto one = rings_.begin(); one != rings_.end();) {
    if (!one->second->is_cut()) {
      ++one;
      continue;
    }
    TW_RETURN_IF_ERROR(tell_lost(
        0, fmt::format("process {} has cut the file of its buffer {}", one->second->pid(),
                       one->first)));
    TW_RETURN_IF_ERROR(remove(one->first));
    one = rings_.erase(one);
  }
  return {};
}

/// Writes a packet to the log, unless it has it. false: not yet, one before it was overlooked: it
/// was begun in a slot that had been looked at, and is there the next time.
Result<bool> Collector::put(const std::string& ring, const tracewell_packet& head, Bytes records,
                            bool all) {
  if (!all && head.number > log_.next_number(head.stream)) return false;
  if (!log_.has(head)) TW_RETURN_IF_ERROR(log_.append(head, records));
  if (const uint64_t mistaken = log_.take_mistaken(); mistaken != 0)
    mistaken_[ring].records += mistaken;
  return true;
}

/// `all`: also the packet that is open, and those with records that are not finished.
Result<uint64_t> Collector::collect(const std::string& name, RingFile& ring, bool all) {
  uint64_t taken = 0;
  keep_apart(ring, log_);
  const auto waiting = ring.waiting();
  const bool crowded = waiting.size() * 4 > ring.slots() * size_t{3};
  for (const RingFile::Waiting& packet : waiting) {
    if (packet.state == TRACEWELL_PACKET_OPEN && !all) break;
    const bool keep = packet.state != TRACEWELL_PACKET_WHOLE && !all && !crowded;
    const RingFile::Taken got = ring.copy(packet, keep, packet_, within(ring, packet.number));
    if (keep && got.unfinished != 0) break;
    if (got.changed) continue;
    tracewell_packet head;
    std::memcpy(&head, packet_.data(), sizeof head);
    TW_ASSIGN_OR_RETURN(const bool is_there,
                        put(name, head, Bytes(packet_).subspan(sizeof head), all));
    if (!is_there) break;
    ring.release(packet, got);
    if (got.bounded) TW_RETURN_IF_ERROR(tell_bounded(name));
    ++taken;
  }
  taken_ += taken;
  TW_RETURN_IF_ERROR(tell_mistaken(name, all));
  return taken;
}

/// Whoever was killed while it made a ring has written nothing to it. What somebody has written to
/// stays, and is told of at the end.
Status Collector::give_up_unfinished() {
  TW_ASSIGN_OR_RETURN(const Folder rings, folder_.inside(kRingsName));
  std::optional<NestedProcesses> nested;
  for (const auto& [name, untouched] : unfinished_) {
    tracewell_ring named;
    if (!tracewell::ring::take_ring_name(name, named) || process_lives(named.pid, 0)) continue;
    if (!nested) nested = NestedProcesses::look();
    if (nested->has(named.pid)) continue;
    // It may have come to an end with it since we looked.
    const auto ring = RingFile::open(rings, name);
    if (ring.ok() || ring.error().code != Errc::Truncated) continue;
    if (untouched)
      TW_RETURN_IF_ERROR(remove(name));
    else
      broken_.emplace(name, ring.error().text());
  }
  return {};
}

/// Also of processes that nobody has waited for yet.
bool Collector::has_new_ends() {
  const std::vector<uint32_t> ended = ends_.take();
  for (const auto& [name, ring] : rings_)
    if (std::ranges::find(ended, ring->pid_here()) != ended.end()) ring->call_dead();
  return !ended.empty();
}

Status Collector::give_up_dead() {
  TW_RETURN_IF_ERROR(give_up_unfinished());
  for (auto one = rings_.begin(); one != rings_.end();) {
    if (one->second->process_lives()) {
      ++one;
      continue;
    }
    TW_RETURN_IF_ERROR(collect(one->first, *one->second, true));
    if (!one->second->is_cut()) {
      log_.stream_ends(one->second->stream());
      TW_RETURN_IF_ERROR(remove(one->first));
      one = rings_.erase(one);
    } else {
      ++one;
    }
  }
  return {};
}

Result<uint64_t> Collector::collect() {
  TW_RETURN_IF_ERROR(find_rings());
  settle_rings(false);
  uint64_t taken = 0;
  for (auto& [name, ring] : rings_) {
    TW_ASSIGN_OR_RETURN(const uint64_t count, collect(name, *ring, false));
    taken += count;
  }
  const bool ended = has_new_ends();
  if (++rounds_ % kRoundsPerCensus == 0 || ended) TW_RETURN_IF_ERROR(give_up_dead());
  TW_RETURN_IF_ERROR(give_up_cut());
  return taken;
}

/// Those who are in the middle of a record. All together have one time: a ring may say so for ever.
void Collector::wait_for_writers() {
  settle_rings(true);
  const auto until = std::chrono::steady_clock::now() + kFinishWait;
  const auto time_left = [&] { return std::chrono::steady_clock::now() < until; };
  std::vector<uint8_t> scratch;
  const auto is_busy = [&](RingFile& ring) {
    for (const RingFile::Waiting& packet : ring.waiting())
      if (packet.state != TRACEWELL_PACKET_WHOLE &&
          ring.copy(packet, true, scratch).unfinished != 0)
        return true;
    return false;
  };
  for (const auto& [name, ring] : rings_)
    while (time_left() && ring->process_lives() && is_busy(*ring)) wait_a_little(kFinishPauseNs);
}

Status Collector::remove(const std::string& name) {
  TW_ASSIGN_OR_RETURN(const Folder rings, folder_.inside(kRingsName));
  Status status = rings.remove(name);
  if (!status.ok() && status.error().code == Errc::NotFound) return {};
  return status;
}

/// What cannot be read as a ring of ours stays in it, for somebody to look at.
Status Collector::remove_folder() {
  rings_.clear();
  {
    const auto rings = folder_.inside(kRingsName);
    if (!rings.ok() && rings.error().code == Errc::NotFound) return {};
    if (!rings.ok()) return rings.error();
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> left, rings->names());
    if (!left.empty()) return {};
  }
  return folder_.remove_folder(kRingsName);
}

Status Collector::leave() {
  wait_for_writers();
  for (auto& [name, ring] : rings_) {
    TW_RETURN_IF_ERROR(collect(name, *ring, true));
    log_.stream_ends(ring->stream());
  }
  TW_RETURN_IF_ERROR(give_up_cut());
  TW_RETURN_IF_ERROR(log_.sync());
  for (const auto& [name, ring] : rings_) TW_RETURN_IF_ERROR(remove(name));
  return {};
}

Status Collector::finish() {
  folder_changed_ns_ = -1;
  TW_RETURN_IF_ERROR(find_rings());
  TW_RETURN_IF_ERROR(leave());
  TW_RETURN_IF_ERROR(tell_broken());
  TW_RETURN_IF_ERROR(tell_others());
  return remove_folder();
}

Result<uint64_t> Collector::discard() {
  folder_changed_ns_ = -1;
  TW_RETURN_IF_ERROR(find_rings());
  uint64_t records = 0;
  wait_for_writers();
  for (auto& [name, ring] : rings_) {
    uint64_t lost = 0, overwritten = 0;
    for (const RingFile::Waiting& packet : ring->waiting()) {
      if (ring->copy(packet, false, packet_, within_).changed) continue;
      tracewell_packet head;
      std::memcpy(&head, packet_.data(), sizeof head);
      records += head.records;
      lost = std::max(lost, head.lost);
      overwritten = std::max(overwritten, head.overwritten);
    }
    records += log_.untold_losses(ring->stream(), lost, overwritten);
    TW_RETURN_IF_ERROR(remove(name));
  }
  TW_RETURN_IF_ERROR(remove_folder());
  return records;
}

}  // namespace tracewell::hooks
