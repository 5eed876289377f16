#include "formats/hooklog/stream.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/endian.h"

namespace tracewell::formats {
namespace {

using Kind = ring::HookRecord::Kind;
using Severity = Problem::Severity;

constexpr char kNoRoom[] = "no room in the thread's ring";
constexpr char kOverwritten[] = "dropped from the thread's ring, which is circular";
constexpr char kUnfinished[] = "the thread was interrupted in it for good";
constexpr char kMissing[] = "packets are missing";
constexpr char kDamaged[] = "damaged";

/// What AIX calls the type of a hook: the flags of a 64-bit hook word, the shape of a 32-bit one.
uint32_t hook_type(const ring::HookRecord& record) {
  if (record.word_bytes == 8) return record.generic ? 0xc000 : 0x8000;
  const uint32_t shape = record.generic      ? 0
                         : record.words == 0 ? 1
                         : record.words == 1 ? 2
                                             : 6;
  return shape | (record.flags & TRACEWELL_RECORD_TIMED ? 8 : 0);
}

}  // namespace

HooklogCursor::HooklogCursor(const HooklogPackets& log, const HooklogStream& stream,
                             ProblemLog& problems, const HooklogPlace* from)
    : log_(log), stream_(stream), problems_(problems), growing_(from != nullptr) {
  if (from) {
    place_ = *from;
    lost_ = from->lost;
    while (next_packet_ < stream_.packets.size() &&
           stream_.packets[next_packet_].head.number < place_.number)
      ++next_packet_;
  }
  advance();
}

void HooklogCursor::lose(uint64_t count, const char* why) {
  ready_ = is_loss_ = true;
  loss_ = {count, why};
}

/// Of all rings there is one at a time, and most of one may be a hole, which takes no memory here
/// either.
ZeroedBytes HooklogCursor::copied() const {
  constexpr size_t kPiece = size_t{64} << 10;
  const InputFile& file = *log_.files[packet_->file];
  const Bytes bytes = file.bytes().subspan(packet_->offset, packet_->bytes);
  ZeroedBytes out(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const uint64_t data = file.next_data(packet_->offset + at) - packet_->offset;
    at += std::min<uint64_t>(data - at, bytes.size() - at) / kPiece * kPiece;
    const Bytes rest = bytes.subspan(at);
    out.put(at, rest.first(std::min(rest.size(), kPiece)));
  }
  return out;
}

/// Goes to the next packet. May leave a loss to be told first. false: there is none, or (of a ring
/// that grows) it moved to the log meanwhile, where it will be found.
bool HooklogCursor::open_packet() {
  if (next_packet_ == stream_.packets.size()) return false;
  const HooklogPacket* before = packet_;
  packet_ = &stream_.packets[next_packet_++];
  Bytes bytes = log_.files[packet_->file]->bytes().subspan(packet_->offset, packet_->bytes);
  if (packet_->in_ring) {
    copy_ = copied();
    bytes = copy_.bytes();
    const Bytes live = log_.files[packet_->file]->bytes().subspan(packet_->offset);
    const auto now = ring::read_hook_packet(bytes), later = ring::read_hook_packet(live);
    if (!now || now->number != packet_->head.number || !later || later->number != now->number) {
      if (growing_) return false;
      // Written over since we looked. What is there instead is another packet.
      ticks_ = packet_->head.ticks_begin;
      lose(0, kOverwritten);
      walk_.reset();
      return true;
    }
  }
  const bool again = growing_ && packet_->head.number == place_.number;
  walk_.emplace(bytes, packet_->open,
                again && place_.at != 0 ? place_.at : ring::hook_head_bytes(packet_->head));
  seen_records_ = 0;
  if (!again || place_.tid == 0) place_.tid = packet_->head.tid;
  ticks_ = packet_->head.ticks_begin;
  if (!before && place_.begun) {
    if (!again) lose(0, kMissing);
  } else if (!before) {
    const uint64_t dropped = stream_.packets.back().head.overwritten;
    if (dropped != 0)
      lose(dropped, kOverwritten);
    else if (packet_->head.number != 0)
      lose(0, kMissing);
  } else if (packet_->head.number != before->head.number + 1) {
    lose(0, kMissing);
  }
  return true;
}

/// What its head says of losses, once its records have been told.
void HooklogCursor::close_packet() {
  walk_.reset();
  place_ = {packet_->head.number + 1, 0, place_.lost, true, 0};
  if (packet_->in_ring && growing_) return;  // it is told once the packet is in the log
  const bool last = next_packet_ == stream_.packets.size();
  uint64_t lost = packet_->head.lost;
  if (last) lost = std::max(lost, stream_.lost);
  ticks_ = std::max(ticks_, packet_->head.ticks_end);
  if (lost > lost_) {
    lose(lost - lost_, kNoRoom);
    lost_ = place_.lost = lost;
  }
}

void HooklogCursor::damaged() {
  problems_.add({packet_->offset + record_.at, Severity::Damage, "bad-record",
                 fmt::format("{}no record of trace hooks; {} bytes of packet {} are not read",
                             log_.where(packet_->file), record_.bytes, packet_->head.number)});
  const uint64_t known = packet_->head.records;
  lose(known > seen_records_ ? known - seen_records_ : 0, kDamaged);
}

/// It would speak for those who have the log: of what they did, of losses, of all programs.
void HooklogCursor::forged_mark() {
  problems_.add({packet_->offset + record_.at, Severity::Damage, "forged-mark",
                 fmt::format("{}a mark in packet {} of process {}, as only commands write them; it "
                             "is left out",
                             log_.where(packet_->file), packet_->head.number, packet_->head.pid)});
}

/// Of a packet that is open, or was closed in the middle of a record, the end is not known.
uint64_t HooklogCursor::ticks_of_record() {
  const tracewell_packet& head = packet_->head;
  const uint64_t ticks = ring::hook_ticks(head.ticks_begin, record_.ticks);
  const bool has_end = !packet_->open && head.state == TRACEWELL_PACKET_WHOLE;
  const uint64_t within = has_end && ticks > head.ticks_end
                              ? std::max(head.ticks_begin, head.ticks_end)
                              : std::max(head.ticks_begin, ticks);
  if (within != ticks)
    problems_.add({packet_->offset + record_.at, Severity::Damage, "record-time",
                   fmt::format("{}a record is not within the time of packet {}: it is taken to the "
                               "nearer end",
                               log_.where(packet_->file), head.number)});
  return within;
}

/// false: the thread has not come further.
bool HooklogCursor::next_record() {
  if (growing_) place_ = {packet_->head.number, walk_->at(), place_.lost, true, place_.tid};
  if (!walk_->next(record_)) {
    if (growing_ && packet_->open) return false;
    close_packet();
    record_ = {};
    return true;
  }
  return !growing_ || !packet_->in_ring || record_.kind != Kind::Unfinished;
}

void HooklogCursor::advance() {
  ready_ = is_loss_ = false;
  while (!ready_) {
    if (!walk_) {
      if (!open_packet()) return;
      continue;
    }
    if (!next_record()) return;
    if (!walk_) continue;
    const bool committed = record_.kind == Kind::Committed;
    if (committed && record_.id == TRACEWELL_RECORD_THREAD) {
      if (record_.data.size() == 4)
        place_.tid = static_cast<uint32_t>(load_uint(record_.data.data(), 4, Endian::Little));
    } else if (committed && record_.id == TRACEWELL_RECORD_MARK && !stream_.of_marks) {
      forged_mark();
    } else if (committed) {
      seen_records_ += record_.word_bytes != 0;
      ready_ = true;
      ticks_ = ticks_of_record();
    } else if (record_.kind == Kind::Unfinished) {
      ++seen_records_;
      lose(1, kUnfinished);
    } else {
      damaged();
    }
    if (!ready_ && log_.stopped(++passed_)) return;
  }
}

void HooklogCursor::add_hook(Batch& batch, Event& event) const {
  Hook hook;
  hook.id = static_cast<uint16_t>(record_.hook >> 16);
  hook.subhook = static_cast<uint16_t>(record_.hook);
  hook.type = hook_type(record_);
  hook.generic = record_.generic;
  hook.environment_bits = record_.word_bytes == 8 ? 64 : 32;
  const std::span<uint64_t> words = batch.array<uint64_t>(record_.words);
  const uint8_t* from = record_.word_data.data();
  if (record_.word_bytes == 8)
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = load_uint(from + i * 8, 8, Endian::Little);
  else
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = load_uint(from + i * 4, 4, Endian::Little);
  hook.words = words;
  hook.data = batch.copy(record_.data);
  event.cpu = record_.cpu;
  event.body = hook;
}

std::optional<std::string_view> HooklogCursor::program() const {
  if (is_loss_ || record_.word_bytes != 0 || record_.id != TRACEWELL_RECORD_PROGRAM)
    return std::nullopt;
  return as_text(record_.data);
}

void HooklogCursor::tell_program(std::string_view program, Batch& batch) const {
  Event& event = batch.add();
  event.tid = place_.tid != 0 ? place_.tid : packet_->head.tid;
  const std::string text = fmt::format("process {}: {}", packet_->head.pid, program);
  event.body = Mark{batch.copy(std::string_view(text)), false};
}

void HooklogCursor::take(Batch& batch) {
  if (const auto named = program()) {
    tell_program(*named, batch);
    return advance();
  }
  Event& event = batch.add();
  event.tid = place_.tid != 0 ? place_.tid : packet_->head.tid;
  if (is_loss_) {
    event.body = loss_;
  } else if (record_.word_bytes != 0) {
    add_hook(batch, event);
  } else {
    event.body = Mark{batch.copy(as_text(record_.data)), false};
  }
  advance();
}

}  // namespace tracewell::formats
