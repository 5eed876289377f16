// base/freestanding: no libc, no allocation.
// The trace buffer's memory: a header, a table of what frames of one place have in common, a ring
// of frames, and texts that describe them. docs/formats/tracebuffer.md
//
// One process writes, and may be killed between any two instructions; others read, then or while it
// goes on. What is published are numbers of bytes, `begin` and `end`: the frames in between are
// there, one behind the other. A frame is added in this order:
//   1. frames that are in its way go:    begin moves, then a fence
//   2. its shape, if that is new, and `shapes`; then its bytes
//   3. end moves                         (release), and then `next`
// All that is stored once a frame was counted is in the page cache, and outlives the writer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracewell::ring {

inline constexpr char kMagic[8] = {'T', 'W', 'b', 'u', 'f', 'f', 'e', 'r'};
/// Of files that are written; those of version 1 can be read (layout_1.h).
inline constexpr uint32_t kVersion = 2;
inline constexpr uint64_t kPage = 4096;
/// Registers that a mask has room for. Those behind count as not collected when there is a mask.
inline constexpr uint32_t kMaskRegisters = 256;

/// What frames have in common that were made for one purpose at one place.
struct FrameShape {
  uint64_t pc = 0;
  int16_t tracepoint = 0;
  uint16_t masked = 0;  // 1: `mask` says which registers were collected; 0: all of them
  uint32_t unused = 0;
  uint8_t mask[kMaskRegisters / 8] = {};  // bit n % 8 of byte n / 8: register n of the layout

  bool operator==(const FrameShape&) const = default;
};

/// A frame begins with this. Then, if kOwnPc, its pc; its blocks (rsp/compact_blocks.h); and 0 to 3
/// bytes, so that `bytes` is a multiple of 4.
struct FrameEntry {
  uint32_t bytes = 0;   // of all of it
  uint32_t number = 0;  // low half of the frame's number
  int64_t time_ns = 0;  // Unix epoch
  int32_t tid = 0;
  uint32_t what = 0;  // kShape: number of its shape; and the flags

  static constexpr uint32_t kShape = 0xffffff;
  static constexpr uint32_t kOwnPc = 1u << 24;      // the pc is not its shape's
  static constexpr uint32_t kRegisters = 1u << 25;  // among its blocks are registers
  static constexpr uint32_t kFillShift = 26;        // two bits: bytes at its end
  uint32_t shape() const { return what & kShape; }
  uint32_t fill() const { return what >> kFillShift & 3; }
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
  uint32_t slot_bytes = 0;    // of the table: sizeof(FrameShape)
  uint64_t table_offset = 0;  // of shapes; in version 1 of records
  uint64_t table_slots = 0;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
  uint32_t register_block_bytes = 0;
  uint32_t big_endian = 0;   // 1: frames are of a machine of that byte order
  int64_t agent_pid = 0;     // the server's process
  int64_t created_ns = 0;    // Unix epoch
  Text texts[2] = {};
  uint32_t text_current = 0;
  uint32_t abandoned = 0;  // 1: who wrote was killed, or failed, and lived to say so
  uint64_t first = 0;  // number of the oldest frame that is kept; version 1: UINT64_MAX = none is
  uint64_t next = 0;   // frames ever committed
  uint64_t lost = 0;   // hits besides for which there was no room; files of before have 0 here, too
  uint64_t begin = 0, end = 0;  // bytes ever written to the data ring; from version 2 on
  uint64_t shapes = 0;          // how many there are; likewise
  /// How often a text was written, or both were dropped. Who copies one looks before and after: two
  /// more may have written over it. Files of before have 0 here.
  uint64_t texts_written = 0;
};

static_assert(sizeof(FrameShape) == 48 && sizeof(FrameEntry) == 24);
static_assert(offsetof(FrameShape, mask) == 16 && offsetof(FrameEntry, what) == 20);
static_assert(sizeof(Text) == 24);
static_assert(sizeof(Header) == 184 && sizeof(Header) <= kPage);
static_assert(offsetof(Header, texts) == 72 && offsetof(Header, text_current) == 120);
static_assert(offsetof(Header, first) == 128 && offsetof(Header, next) == 136);
static_assert(offsetof(Header, lost) == 144 && offsetof(Header, shapes) == 168);
static_assert(offsetof(Header, texts_written) == 176);
static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

/// Where the areas of a buffer begin, and where the texts may.
struct Geometry {
  static constexpr uint64_t kShapes = 1 << 16;  // twice as many as there may be locations
  uint64_t table_offset = kPage;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
  uint64_t end = 0;
};

/// For a ring of `data_bytes`, which is far from 2^64. Most of the shapes' room is never touched,
/// and takes no memory.
constexpr Geometry geometry(uint64_t data_bytes) {
  const auto whole_pages = [](uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; };
  Geometry out;
  out.data_offset = out.table_offset + whole_pages(Geometry::kShapes * sizeof(FrameShape));
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
