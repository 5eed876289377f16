// base/freestanding: no libc, no allocation.
// A packet of trace hooks, as include/tracewell/hook_layout.h lays it out: what is in one, be it
// closed, still being written, or left behind by a thread that was killed between two instructions.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/endian.h"

namespace tracewell::ring {

using PacketBytes = std::span<const uint8_t>;

/// Bytes of a packet that a file may claim to have: a log's packets may have been cut to their
/// content, and nothing makes larger ones.
inline constexpr uint64_t kHookPacketBytesMin = TRACEWELL_PACKET_HEAD_2;
inline constexpr uint64_t kHookPacketBytesMax = TRACEWELL_PACKET_BYTES_MAX;

/// Bytes before the first record: releases before had a shorter head.
inline uint32_t hook_head_bytes(const tracewell_packet& head) {
  return head.stream_id == 0 ? TRACEWELL_PACKET_HEAD_2 : TRACEWELL_PACKET_HEAD;
}

/// The head of a packet, if `bytes` begin with one of ours whose sizes are possible. What it says
/// of sizes may still be more than there is. What an old head does not have is 0, but the ring,
/// which is known. Looks once at each byte, which may be something else when it is looked at again.
inline std::optional<tracewell_packet> read_hook_packet(PacketBytes bytes) {
  tracewell_packet head{};
  if (bytes.size() < TRACEWELL_PACKET_HEAD_2) return std::nullopt;
  std::memcpy(&head, bytes.data(), TRACEWELL_PACKET_HEAD_2);
  const uint64_t first = hook_head_bytes(head), read = TRACEWELL_PACKET_HEAD_2;
  if (head.stream_id > TRACEWELL_PACKET_STREAM || bytes.size() < first) return std::nullopt;
  std::memcpy(reinterpret_cast<uint8_t*>(&head) + read, bytes.data() + read, first - read);
  if (head.stream_id == 0) head.ring = static_cast<uint32_t>(head.stream);
  const uint64_t size = head.packet_bits / 8;
  if (head.magic != TRACEWELL_PACKET_MAGIC || head.packet_bits % 32 != 0 || size < first ||
      size > kHookPacketBytesMax || head.content_bits > head.packet_bits ||
      head.content_bits % 32 != 0 || (head.content_bits != 0 && head.content_bits < 8 * first))
    return std::nullopt;
  return head;
}

/// Is it a ring whose layout is known? What an old one does not have is 0 there.
inline bool is_known_ring(const tracewell_ring& ring) {
  return ring.magic == TRACEWELL_RING_MAGIC && (ring.version == TRACEWELL_RING_VERSION ||
                                                ring.version == TRACEWELL_RING_VERSION_OLD);
}

/// tracewell_packet::stream of its packets.
inline uint64_t hook_stream(const tracewell_ring& ring) {
  return ring.version == TRACEWELL_RING_VERSION_OLD ? uint64_t{ring.pid} << 32 | ring.number
                                                    : ring.identity[1] + ring.number;
}

/// Is it of this ring? Its slots are memory of a program that may write there what it likes.
inline bool is_of_ring(const tracewell_packet& head, const tracewell_ring& ring) {
  const bool old = ring.version == TRACEWELL_RING_VERSION_OLD;
  return head.stream == hook_stream(ring) && head.pid == ring.pid &&
         (head.stream_id == 0) == old &&
         (old || (head.identity[0] == ring.identity[0] && head.identity[1] == ring.identity[1] &&
                  head.ring == ring.number));
}

/// Full ticks of a record from the 48 bits in it: within 2^47 of the packet's begin.
inline uint64_t hook_ticks(uint64_t begin, uint64_t low) {
  constexpr int kUnused = 64 - TRACEWELL_RECORD_TICK_BITS;
  const auto distance = static_cast<int64_t>((low - begin) << kUnused) >> kUnused;
  return begin + static_cast<uint64_t>(distance);
}

/// A record, or space that is none.
struct HookRecord {
  enum class Kind : uint8_t {
    Committed,
    Unfinished,  // reserved, and not committed
    Damaged,     // nothing that is ever written; the rest of the packet cannot be read
  };
  Kind kind = Kind::Committed;
  uint8_t id = 0;
  uint8_t flags = 0;
  uint8_t word_bytes = 0;  // 8 or 4; 0 = a mark
  bool generic = false;
  uint32_t words = 0;
  uint64_t ticks = 0;      // 48 bits
  uint32_t hook = 0;       // id << 16 | subhook
  PacketBytes word_data;   // `words` of `word_bytes`, unaligned
  PacketBytes data;        // of a generic record; text of a mark
  int32_t cpu = -1;        // -1: it does not say
  uint32_t at = 0;         // in the packet
  uint32_t bytes = 0;
};

/// Goes through the records of a packet in order. The bytes must not change meanwhile.
class HookWalk {
 public:
  /// `packet` from its head to the end of its content, or of all that there is while it is open.
  /// Begins with the record at `from`.
  HookWalk(PacketBytes packet, bool open, uint32_t from)
      : packet_(packet), open_(open), at_(from) {}

  /// Where the next record would be.
  uint32_t at() const { return at_; }

  /// false: there are no more.
  bool next(HookRecord& record) {
    record = {};
    if (at_ + 4 > packet_.size()) return false;
    const uint32_t first = number(at_, 4);
    if (first == 0) return skip_zeros(record);
    record.at = at_;
    record.id = static_cast<uint8_t>(first);
    record.flags = static_cast<uint8_t>(first >> 8);
    const uint32_t left = static_cast<uint32_t>(packet_.size()) - at_;
    if (record.id == 0) {
      record.kind = HookRecord::Kind::Unfinished;
      record.bytes = first >> 8;
    } else if (!measure(record, left)) {
      record.bytes = 0;
    }
    if (record.bytes < kBytesMin || record.bytes > left || record.bytes % 4 != 0) {
      record.kind = HookRecord::Kind::Damaged;
      record.bytes = left;
    }
    at_ += record.bytes;
    return true;
  }

 private:
  static constexpr uint32_t kBytesMin = 12;

  uint64_t number(uint32_t at, size_t size) const {
    return load_uint(packet_.data() + at, size, Endian::Little);
  }

  /// Reserved and untouched; or, in an open packet, the end.
  bool skip_zeros(HookRecord& record) {
    const uint32_t from = at_;
    while (at_ + 4 <= packet_.size() && number(at_, 4) == 0) at_ += 4;
    if (open_ && at_ + 4 > packet_.size()) return false;
    record.kind = HookRecord::Kind::Unfinished;
    record.at = from;
    record.bytes = at_ - from;
    return true;
  }

  bool measure(HookRecord& record, uint32_t left) {
    const bool mark = record.id >= TRACEWELL_RECORD_MARK;
    if (record.id > TRACEWELL_RECORD_LAST || left < kBytesMin) return false;
    record.ticks = number(at_ + 2, 6);
    uint32_t head = 8;
    if (!mark) {
      record.generic = record.id >= TRACEWELL_RECORD_GENERIC_64;
      const bool wide = record.generic ? record.id == TRACEWELL_RECORD_GENERIC_64
                                       : record.id < TRACEWELL_RECORD_WORDS_32;
      record.word_bytes = wide ? 8 : 4;
      record.words = record.generic ? 1
                     : wide         ? record.id - TRACEWELL_RECORD_WORDS_64
                                    : record.id - TRACEWELL_RECORD_WORDS_32;
      record.hook = static_cast<uint32_t>(number(at_ + 8, 4));
      head = TRACEWELL_RECORD_HEAD + record.words * record.word_bytes;
      if (head > left) return false;
      record.word_data = packet_.subspan(at_ + TRACEWELL_RECORD_HEAD, head - TRACEWELL_RECORD_HEAD);
    }
    record.bytes = head;
    if ((mark || record.generic) && !measure_data(record, left)) return false;
    return mark || measure_cpu(record, left);
  }

  /// A length and as many bytes, behind what there is of the record.
  bool measure_data(HookRecord& record, uint32_t left) {
    const uint32_t head = record.bytes;
    if (head + 2 > left) return false;
    const auto length = static_cast<uint32_t>(number(at_ + head, 2));
    record.bytes = (head + 2 + length + 3) & ~3u;
    if (record.bytes > left) return false;
    record.data = packet_.subspan(at_ + head + 2, length);
    return true;
  }

  bool measure_cpu(HookRecord& record, uint32_t left) {
    if ((record.flags & TRACEWELL_RECORD_CPU) == 0) return true;
    if (record.bytes + 4 > left) return false;
    const uint64_t cpu = number(at_ + record.bytes, 4);
    record.cpu = cpu <= INT32_MAX ? static_cast<int32_t>(cpu) : -1;
    record.bytes += 4;
    return true;
  }

  PacketBytes packet_;
  bool open_;
  uint32_t at_;
};

}  // namespace tracewell::ring
