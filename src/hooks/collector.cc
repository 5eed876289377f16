#include "hooks/collector.h"

#include <chrono>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "hooks/ring_file.h"

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

}  // namespace

Collector::Collector(const Folder& folder, LogFolder& log, const Uuid& session,
                     std::optional<LogClock> clock)
    : folder_(folder), log_(log), session_(session), clock_(clock) {}
Collector::~Collector() = default;

/// Looks into the folder only when something was made or removed there since.
Status Collector::find_rings() {
  const auto about = folder_.facts_of_name(kRingsName);
  if (!about) return errno_error("cannot look for " + printable(folder_.path_of(kRingsName)));
  const int64_t changed = about->changed_ns;
  if (changed == folder_changed_ns_) return {};
  TW_ASSIGN_OR_RETURN(const Folder rings, folder_.inside(kRingsName));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> names, rings.names());
  unfinished_.clear();
  others_.clear();
  for (const std::string& name : names) {
    if (name[0] == '.' || rings_.contains(name)) continue;
    auto ring = RingFile::open(rings, name);
    if (ring.ok() && (*ring)->is_of(session_))
      rings_.emplace(name, *std::move(ring));
    else if (ring.ok())
      others_.insert(name);
    else if (!ring.ok() && ring.error().code == Errc::Unsupported)
      TW_RETURN_IF_ERROR(tell_unknown(name, ring.error()));
    else if (!ring.ok() && ring.error().code == Errc::Truncated)
      unfinished_.insert(name);
  }
  // A change within the same tick of the file system's clock must not be overlooked.
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  folder_changed_ns_ = unfinished_.empty() && now_ns - changed > 100'000'000 ? changed : -1;
  return {};
}

/// Where it says so, `check` and reports count it.
Status Collector::tell_lost(uint64_t records, const std::string& why) {
  const Instant at = now();
  return add_mark(folder_, session_, fmt::format("{} records lost: {}", records, why),
                  clock_ ? ticks_at(*clock_, at.time_ns) : at.ticks);
}

/// Programs of releases before make them where the path of their log leads, whichever log has the
/// name by then. What is in them is nobody's but their session's, whose log cannot tell of them.
Status Collector::tell_others() {
  if (others_.empty()) return {};
  const Instant at = now();
  return add_mark(folder_, session_,
                  fmt::format("{} buffers of other traces are in {}: `trcdead -o OTHER_LOG` takes "
                              "each of them",
                              others_.size(), kRingsName),
                  clock_ ? ticks_at(*clock_, at.time_ns) : at.ticks);
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
Result<bool> Collector::put(const tracewell_packet& head, Bytes records, bool all) {
  if (!all && head.number > log_.next_number(head.stream)) return false;
  if (!log_.has(head)) TW_RETURN_IF_ERROR(log_.append(head, records));
  if (const uint64_t mistaken = log_.take_mistaken(); mistaken != 0)
    TW_RETURN_IF_ERROR(tell_lost(
        mistaken, fmt::format("process {} had the id of an earlier one", head.pid)));
  return true;
}

/// `all`: also the packet that is open, and those with records that are not finished.
Result<uint64_t> Collector::collect(RingFile& ring, bool all) {
  uint64_t taken = 0;
  keep_apart(ring, log_);
  const auto waiting = ring.waiting();
  const bool crowded = waiting.size() * 4 > ring.slots() * size_t{3};
  for (const RingFile::Waiting& packet : waiting) {
    RingFile::Taken got;
    bool is_there = false;
    if (const auto in_place = ring.in_place(packet)) {
      TW_ASSIGN_OR_RETURN(is_there, put(in_place->head, in_place->records, all));
    } else {
      if (packet.state == TRACEWELL_PACKET_OPEN && !all) break;
      const bool keep = packet.state != TRACEWELL_PACKET_WHOLE && !all && !crowded;
      got = ring.copy(packet, keep, packet_);
      if (keep && got.unfinished != 0) break;
      if (got.changed) continue;
      tracewell_packet head;
      std::memcpy(&head, packet_.data(), sizeof head);
      TW_ASSIGN_OR_RETURN(is_there, put(head, Bytes(packet_).subspan(sizeof head), all));
    }
    if (!is_there) break;
    ring.release(packet, got);
    ++taken;
  }
  taken_ += taken;
  return taken;
}

/// Whoever was killed while it made a ring has written nothing to it.
Status Collector::give_up_unfinished() {
  for (const std::string& name : unfinished_) {
    const auto pid = parse_number(std::string_view(name).substr(0, name.find('-')));
    if (!pid || *pid > INT32_MAX || process_lives(static_cast<uint32_t>(*pid), 0)) continue;
    // It may have come to an end with it since we looked.
    TW_ASSIGN_OR_RETURN(const Folder rings, folder_.inside(kRingsName));
    const auto ring = RingFile::open(rings, name);
    if (!ring.ok() && ring.error().code == Errc::Truncated) TW_RETURN_IF_ERROR(remove(name));
  }
  return {};
}

Status Collector::give_up_dead() {
  TW_RETURN_IF_ERROR(give_up_unfinished());
  for (auto one = rings_.begin(); one != rings_.end();) {
    if (one->second->process_lives()) {
      ++one;
      continue;
    }
    TW_RETURN_IF_ERROR(collect(*one->second, true));
    if (!one->second->is_cut()) {
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
  uint64_t taken = 0;
  for (auto& [name, ring] : rings_) {
    TW_ASSIGN_OR_RETURN(const uint64_t count, collect(*ring, false));
    taken += count;
  }
  if (++rounds_ % kRoundsPerCensus == 0) TW_RETURN_IF_ERROR(give_up_dead());
  TW_RETURN_IF_ERROR(give_up_cut());
  return taken;
}

/// Those who are in the middle of a record. All together have one time: a ring may say so for ever.
void Collector::wait_for_writers() {
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

Status Collector::finish() {
  folder_changed_ns_ = -1;
  TW_RETURN_IF_ERROR(find_rings());
  wait_for_writers();
  for (auto& [name, ring] : rings_) TW_RETURN_IF_ERROR(collect(*ring, true));
  TW_RETURN_IF_ERROR(give_up_cut());
  TW_RETURN_IF_ERROR(log_.sync());
  for (const auto& [name, ring] : rings_) TW_RETURN_IF_ERROR(remove(name));
  TW_RETURN_IF_ERROR(tell_others());
  return remove_folder();
}

Result<uint64_t> Collector::discard() {
  folder_changed_ns_ = -1;
  TW_RETURN_IF_ERROR(find_rings());
  uint64_t records = 0;
  wait_for_writers();
  for (auto& [name, ring] : rings_) {
    for (const RingFile::Waiting& packet : ring->waiting()) {
      if (ring->copy(packet, false, packet_).changed) continue;
      tracewell_packet head;
      std::memcpy(&head, packet_.data(), sizeof head);
      records += head.records;
    }
    TW_RETURN_IF_ERROR(remove(name));
  }
  TW_RETURN_IF_ERROR(remove_folder());
  return records;
}

}  // namespace tracewell::hooks
