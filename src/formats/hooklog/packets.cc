#include "formats/hooklog/packets.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"
#include "model/lost_count.h"
#include "ring/hook_packet.h"
#include "ring/ring_name.h"

namespace tracewell::formats {
namespace {

using Severity = Problem::Severity;

constexpr uint64_t kSearchedMax = 256 << 20;
constexpr uint8_t kMagicBytes[] = {0xc1, 0x1f, 0xfc, 0xc1};

bool is_packet_magic(Bytes rest) {
  const size_t known = std::min(rest.size(), std::size(kMagicBytes));
  return std::equal(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(known), kMagicBytes);
}

bool is_cut_head(Bytes rest) {
  return rest.size() < TRACEWELL_PACKET_HEAD && is_packet_magic(rest);
}

/// Of a packet of a release to come: its stream class. (Larger numbers are damage.) 0: it is none.
uint64_t later_class(Bytes bytes) {
  constexpr size_t kClassAt = offsetof(tracewell_packet, stream_id);
  constexpr uint64_t kClassMax = 255;
  if (bytes.size() < kClassAt + 4 || !is_packet_magic(bytes)) return 0;
  const uint64_t one = load_uint(bytes.data() + kClassAt, 4, Endian::Little);
  return one > TRACEWELL_PACKET_STREAM && one <= kClassMax ? one : 0;
}

struct Slot {
  uint32_t number = 0;
  uint64_t at = 0;     // of its packet
  uint32_t state = 0;  // of that
};

/// Those that are there, and that somebody has written to. To look at the hole that another one is
/// would make memory of it, and read ahead.
std::vector<Slot> used_slots(const InputFile& file, const tracewell_ring& ring) {
  const Bytes bytes = file.bytes();
  std::vector<Slot> out;
  for (uint32_t slot = 0; slot < ring.slots; ++slot) {
    const uint64_t at = TRACEWELL_HOOK_PAGE + uint64_t{slot} * ring.packet_bytes;
    const uint64_t state_at = at + offsetof(tracewell_packet, state);
    if (state_at + 4 > bytes.size()) break;
    if (file.next_data(at) >= at + TRACEWELL_PACKET_HEAD) continue;
    out.push_back({slot, at, static_cast<uint32_t>(load_uint(bytes.data() + state_at, 4,
                                                             Endian::Little))});
  }
  return out;
}

std::string own_name_of_ring(Bytes bytes) {
  tracewell_ring ring;
  if (bytes.size() < sizeof ring) return "";
  std::memcpy(&ring, bytes.data(), sizeof ring);
  return fmt::format("{}-{}", ring.pid, ring.number);
}

}  // namespace

Result<std::vector<std::string>> hooklog_files(const Folder& folder) {
  TW_ASSIGN_OR_RETURN(auto names, folder.names());
  std::erase_if(names, [](const std::string& name) {
    return name[0] < '0' || name[0] > '9' || name.find('-') == std::string::npos ||
           name.find_first_not_of("0123456789-.") != std::string::npos;
  });
  return names;
}

Result<std::optional<Folder>> hooklog_rings(const Folder& log) {
  if (!log.facts_of_name(kHooklogRings)) return std::optional<Folder>();
  auto rings = log.inside(kHooklogRings);
  if (rings.ok()) return std::optional<Folder>(*std::move(rings));
  if (rings.error().code == Errc::NotFound) return std::optional<Folder>();  // just removed
  return rings.error();
}

bool HooklogStreams::has(const HooklogRing& ring) const {
  const auto found = rings_.find(ring.stream);
  return found != rings_.end() && found->second == std::pair(ring.pid, ring.number);
}

HooklogRing HooklogStreams::in_log(HooklogRing ring) const {
  ring.stream = ring::hook_stream_in_log(ring.stream, ring.pid, ring.number, [&](uint64_t one) {
    if (has({ring.pid, ring.number, one})) return ring::StreamOwner::ThisRing;
    return rings_.contains(one) ? ring::StreamOwner::Another : ring::StreamOwner::Nobody;
  });
  return ring;
}

HooklogPacket& HooklogPackets::add(const HooklogRing& ring, const tracewell_packet& head,
                                   uint32_t file, uint64_t offset, uint64_t room) {
  HooklogPacket packet{head, file, offset, 0, head.content_bits == 0, false, 0, false};
  uint64_t wanted = (packet.open ? head.packet_bits : head.content_bits) / 8;
  wanted = std::min(wanted, room);
  const uint64_t there = files[file]->bytes().size() - offset;
  packet.bytes = static_cast<uint32_t>(std::min(wanted, there));
  packet.missing = static_cast<uint32_t>(wanted - packet.bytes);
  if (packet.open && packet.head.ticks_end == 0) packet.head.ticks_end = packet.head.ticks_begin;
  return streams[ring].packets.emplace_back(packet);
}

void HooklogPackets::add_logged(const tracewell_packet& head, uint32_t file, uint64_t offset) {
  const HooklogRing ring{head.pid, head.ring, head.stream};
  in_log.add(ring);
  HooklogPacket& packet = add(ring, head, file, offset, UINT64_MAX);
  packet.foreign = session && !std::ranges::equal(*session, head.uuid);
  foreign_ += packet.foreign ? 1 : 0;
  ++logged_;
  // No ring has such a name, and no collector such packets.
  if (ring == HooklogRing()) streams[ring].of_marks = true;
}

void HooklogPackets::add_stream_file(std::shared_ptr<InputFile> file, ProblemLog& problems) {
  const auto index = static_cast<uint32_t>(files.size());
  files.push_back(std::move(file));
  const Bytes bytes = files.back()->bytes();
  for (uint64_t at = 0, done = 0; at < bytes.size() && !stopped(++done);) {
    if (const auto head = ring::read_hook_packet(bytes.subspan(at))) {
      add_logged(*head, index, at);
      at += head->packet_bits / 8;
      continue;
    }
    // A file may be all holes: of those of a log, so much is searched together.
    const Bytes rest = bytes.subspan(at + 1);
    const Bytes searched = rest.first(std::min(rest.size(), kSearchedMax - searched_));
    const auto found = std::search(searched.begin(), searched.end(), std::begin(kMagicBytes),
                                   std::end(kMagicBytes));
    searched_ += static_cast<uint64_t>(found - searched.begin());
    const uint64_t next =
        found == searched.end() ? bytes.size() : at + 1 + (found - searched.begin());
    if (is_cut_head(bytes.subspan(at))) {
      cut_heads_.push_back({index, at, bytes.size() - at});
      return;
    }
    if (const uint64_t later = later_class(bytes.subspan(at)); later != 0)
      problems.add({at, Severity::Damage, "packet-version",
                    fmt::format("{}{} bytes are a packet of stream class {}, which this release "
                                "does not know",
                                where(index), next - at, later)});
    else
      problems.add({at, Severity::Damage, "no-packet",
                    fmt::format("{}{} bytes are no packet", where(index), next - at)});
    at = next;
  }
}

uint64_t HooklogPackets::add_whole_packets(std::shared_ptr<InputFile> file, uint64_t from) {
  const auto index = static_cast<uint32_t>(files.size());
  files.push_back(std::move(file));
  const Bytes bytes = files.back()->bytes();
  for (uint64_t done = 0; from < bytes.size() && !stopped(++done);) {
    const auto head = ring::read_hook_packet(bytes.subspan(from));
    if (!head || head->packet_bits / 8 > bytes.size() - from) break;
    add_logged(*head, index, from);
    from += head->packet_bits / 8;
  }
  return from;
}

void HooklogPackets::add_ring_file(std::shared_ptr<InputFile> file, const std::string& name,
                                   ProblemLog& problems) {
  const Bytes bytes = file->bytes();
  tracewell_ring ring;
  if (bytes.size() < sizeof ring) return;
  std::memcpy(&ring, bytes.data(), sizeof ring);
  if (ring.magic == 0) return;  // nothing was written to it
  if (ring.magic == TRACEWELL_RING_MAGIC && !ring::is_known_ring(ring)) {
    problems.add({0, Severity::Damage, "ring-version",
                  fmt::format("{} is a ring of version {}, which this release does not know",
                              file->path(), ring.version)});
    return;
  }
  const bool sound = ring.magic == TRACEWELL_RING_MAGIC && ring::take_ring_name(name, ring) &&
                     ring.slots >= 1 &&
                     ring.slots <= TRACEWELL_RING_SLOTS_MAX &&
                     ring.packet_bytes >= TRACEWELL_PACKET_BYTES_MIN &&
                     ring.packet_bytes <= TRACEWELL_PACKET_BYTES_MAX;
  if (!sound) {
    problems.add({0, Severity::Damage, "no-ring", file->path() + " is no ring of trace hooks"});
    return;
  }
  if (session && !std::ranges::equal(*session, ring.uuid)) {
    ++others_;
    return;
  }
  const HooklogRing& self =
      rings_.emplace_back(HooklogRing{ring.pid, ring.number, ring::hook_stream(ring)});
  const auto index = static_cast<uint32_t>(files.size());
  files.push_back(file);
  const std::vector<Slot> slots = used_slots(*file, ring);
  uint64_t dropped = 0;
  for (const Slot& one : slots)
    if (TRACEWELL_PACKET_STATE(one.state) == TRACEWELL_PACKET_DROPPED) dropped += one.state >> 8;
  for (const auto& [slot, at, state] : slots) {
    if (at + TRACEWELL_PACKET_HEAD_2 > bytes.size()) break;
    const auto head = ring::read_hook_packet(bytes.subspan(at));
    const bool used = head && head->state >= TRACEWELL_PACKET_OPEN &&
                      head->state <= TRACEWELL_PACKET_WHOLE;
    if (!used) continue;
    if (!ring::is_of_ring(*head, ring)) {
      problems.add({at, Severity::Damage, "other-packet",
                    fmt::format("{}: packet {} of another ring in slot {}; its hooks are lost",
                                file->path(), head->number, slot)});
      continue;
    }
    HooklogPacket& packet = add(self, *head, index, at, ring.packet_bytes);
    packet.in_ring = true;
    packet.head.lost = lost_sum(packet.head.lost, ring.unfinished);
    packet.head.overwritten = lost_sum(packet.head.overwritten, dropped);
  }
  streams[self].lost = lost_sum(ring.lost, ring.unfinished);
}

std::string HooklogPackets::where(uint32_t file) const {
  return of_folder_ ? file_name_of(files[file]->path()) + ": " : "";
}

bool HooklogPackets::stopped(uint64_t done) const {
  constexpr uint64_t kOnceIn = 1024;
  return stop && done % kOnceIn == 0 && stop();
}

Status HooklogPackets::check_new(const InputFile& file, std::string_view name_of_ring) {
  const bool fits = name_of_ring.empty() || file.facts().links < 2 ||
                    name_of_ring == own_name_of_ring(file.bytes());
  if (fits && known_.emplace(file.facts().device, file.facts().inode).second) return {};
  return {Errc::Corrupt,
          fmt::format("{} is one more name of a file of this log", printable(file.path()))};
}

void HooklogPackets::add_folder(const Folder& folder, ProblemLog& problems) {
  of_folder_ = true;
  const auto files_in = [&](const Folder& one) {
    auto names = hooklog_files(one);
    if (names.ok()) return *std::move(names);
    problems.add({std::nullopt, Severity::Damage, "stream-file", names.error().text()});
    return std::vector<std::string>();
  };
  if (const auto rings = hooklog_rings(folder); !rings.ok()) {
    problems.add({std::nullopt, Severity::Damage, "no-ring", rings.error().text()});
  } else if (*rings) {
    for (const std::string& name : files_in(**rings)) {
      if (stop && stop()) return;
      auto file = (*rings)->read(name, kHooklogRingMax);
      if (file.ok())
        if (Status once = check_new(**file, name); !once) file = std::move(once).error();
      if (file.ok())
        add_ring_file(*std::move(file), name, problems);
      else if (file.error().code != Errc::NotFound)  // a collector has just emptied and removed it
        problems.add({std::nullopt, Severity::Damage, "no-ring", file.error().text()});
    }
  }
  for (const std::string& name : files_in(folder)) {
    if (stop && stop()) return;
    auto file = folder.read(name, kHooklogFileMax);
    if (file.ok())
      if (Status once = check_new(**file); !once) file = std::move(once).error();
    if (file.ok())
      add_stream_file(*std::move(file), problems);
    else
      problems.add({std::nullopt, Severity::Damage, "stream-file", file.error().text()});
  }
  if (others_ != 0)
    problems.add({std::nullopt, Severity::Note, "other-rings",
                  fmt::format("rings of another session in {}: {}; they are not shown",
                              folder.path_of(".rings"), others_)});
}

/// A packet that is in the log already, and in its ring, is one.
void HooklogPackets::place_rings() {
  for (const HooklogRing& ring : rings_) {
    const HooklogRing logged = in_log.in_log(ring);
    if (logged == ring) continue;
    const HooklogStream from = std::move(streams[ring]);
    streams.erase(ring);
    HooklogStream& to = streams[logged];
    to.packets.insert(to.packets.end(), from.packets.begin(), from.packets.end());
    to.lost = std::max(to.lost, from.lost);
  }
}

void HooklogPackets::settle(ProblemLog& problems) {
  place_rings();
  if (foreign_ != 0 && session)
    problems.add({std::nullopt, Severity::Damage, "other-session",
                  fmt::format("packets of another session than the log's, by its metadata: {}; "
                              "their times are not known",
                              foreign_)});
  // A ring keeps a packet until all of it is in the log.
  if (rings_.empty())
    for (const CutHead& one : cut_heads_)
      problems.add({one.offset, Severity::Damage, "no-packet",
                    fmt::format("{}{} bytes are no packet", where(one.file), one.bytes)});
  uint64_t done = 0;
  for (auto& [id, stream] : streams) {
    if (stopped(++done)) return;
    auto& packets = stream.packets;
    // Of those that are there twice, what the log has comes before what a ring has, unless a
    // collector was killed over it.
    std::ranges::stable_sort(packets, {}, [](const HooklogPacket& one) {
      return std::tuple(one.head.number, one.missing != 0, one.in_ring);
    });
    const auto again = std::ranges::unique(packets, {}, [](const HooklogPacket& one) {
      return one.head.number;
    });
    packets.erase(again.begin(), again.end());
    for (const HooklogPacket& one : packets)
      if (one.missing != 0)
        problems.add({one.offset, Severity::Damage, "packet-cut",
                      fmt::format("{}{} bytes are missing at the end of packet {}",
                                  where(one.file), one.missing, one.head.number)});
  }
  std::erase_if(streams, [](const auto& one) { return one.second.packets.empty(); });
}

std::optional<uint64_t> HooklogPackets::begun() const {
  const auto marks = streams.find(HooklogRing());
  if (marks == streams.end()) return std::nullopt;
  std::optional<uint64_t> first;
  for (const HooklogPacket& packet : marks->second.packets) {
    if (packet.foreign) continue;
    if (!first) first = packet.head.ticks_begin;
    const Bytes bytes = files[packet.file]->bytes().subspan(packet.offset, packet.bytes);
    ring::HookWalk walk(bytes, packet.open, ring::hook_head_bytes(packet.head));
    for (ring::HookRecord record; walk.next(record);)
      if (record.id == TRACEWELL_RECORD_MARK && as_text(record.data).starts_with("TRACE ON "))
        return first;
  }
  return std::nullopt;
}

}  // namespace tracewell::formats
