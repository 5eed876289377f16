// base/freestanding: no libc, no allocation.
// The trace buffer's memory: a header, a ring of frame records, a ring of frame bytes, and texts
// that describe them. docs/formats/tracebuffer.md
//
// One process writes, and may be killed between any two instructions; others read, then or while it
// goes on. What is published are two numbers, `first` and `next`: frames first..next-1 are there,
// frame n in record n % record_slots. A frame is added in this order:
//   1. frames that are in its way go:    first += k, then a fence
//   2. bytes into the data ring, then the record
//   3. next += 1                         (release)
// All that is stored once a frame was counted is in the page cache, and outlives the writer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracewell::ring {

inline constexpr char kMagic[8] = {'T', 'W', 'b', 'u', 'f', 'f', 'e', 'r'};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kFrameBytesMin = 6;  // a frame's header, and no blocks
/// Registers that a mask has room for. Those behind count as not collected when there is a mask.
inline constexpr uint32_t kMaskRegisters = 256;

/// What is known of a frame beside its bytes.
struct FrameRecord {
  uint64_t at = 0;  // of the header: bytes ever written to the data ring before it
  uint64_t pc = 0;
  int64_t time_ns = 0;  // Unix epoch
  int32_t tid = 0;
  uint32_t size = 0;  // of the data, without the header
  int16_t tracepoint = 0;
  uint16_t masked = 0;  // 1: `mask` says which registers were collected; 0: all of them
  uint32_t check = 0;   // low half of the frame's number
  uint8_t mask[kMaskRegisters / 8] = {};  // bit n % 8 of byte n / 8: register n of the layout
};

/// A description: text, and what the trailer of a trace file holds. Written where the current one
/// is not, then `text_current` is switched.
struct Text {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t room = 0;  // bytes at `offset` that are its own
};

struct Header {
  char magic[8] = {};  // written last
  uint32_t version = 0;
  uint32_t record_bytes = 0;
  uint64_t records_offset = 0;
  uint64_t record_slots = 0;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
  uint32_t register_block_bytes = 0;
  uint32_t big_endian = 0;   // 1: frames are of a machine of that byte order
  int64_t agent_pid = 0;     // the server's process
  int64_t created_ns = 0;    // Unix epoch
  Text texts[2] = {};
  uint32_t text_current = 0;
  uint32_t abandoned = 0;  // 1: who wrote was killed, or failed, and lived to say so
  uint64_t first = 0;  // number of the oldest frame that is kept; > next while all are dropped
  uint64_t next = 0;   // frames ever committed
  uint64_t lost = 0;   // hits besides for which there was no room; files of before have 0 here, too
};

static_assert(sizeof(FrameRecord) == 72 && alignof(FrameRecord) == 8);
static_assert(offsetof(FrameRecord, tracepoint) == 32 && offsetof(FrameRecord, check) == 36);
static_assert(offsetof(FrameRecord, mask) == 40);
static_assert(sizeof(Text) == 24);
static_assert(sizeof(Header) == 152 && sizeof(Header) <= kPage);
static_assert(offsetof(Header, texts) == 72 && offsetof(Header, text_current) == 120);
static_assert(offsetof(Header, first) == 128 && offsetof(Header, next) == 136);
static_assert(offsetof(Header, lost) == 144);
static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

/// Where the areas of a buffer begin, and where the texts may.
struct Geometry {
  uint64_t records_offset = kPage;
  uint64_t record_slots = 0;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
  uint64_t end = 0;
};

/// For a ring of `data_bytes`, which is far from 2^64; with as many records as frames can fit it.
/// Most of the records' room is never touched and takes no memory.
constexpr Geometry geometry(uint64_t data_bytes) {
  const auto whole_pages = [](uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; };
  Geometry out;
  out.record_slots = data_bytes / kFrameBytesMin + 1;
  out.data_offset = out.records_offset + whole_pages(out.record_slots * sizeof(FrameRecord));
  out.data_bytes = data_bytes;
  out.end = out.data_offset + whole_pages(data_bytes);
  return out;
}

/// The published numbers. The header may be read-only memory where they are only loaded.
inline uint64_t load(const uint64_t& number) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(number)).load(std::memory_order_acquire);
}
inline uint32_t load(const uint32_t& number) {
  return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(number)).load(std::memory_order_acquire);
}
template <class Number>
inline void publish(Number& number, Number value) {
  std::atomic_ref<Number>(number).store(value, std::memory_order_release);
}
/// Stores before it are seen before stores behind it.
inline void write_barrier() { std::atomic_thread_fence(std::memory_order_release); }

}  // namespace tracewell::ring
