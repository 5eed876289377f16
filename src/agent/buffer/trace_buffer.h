// TraceBuffer: the frames of a live trace, in memory of the size that was asked for. In a file
// (move_into) it outlives us; ring/layout.h says how. A frame is kept in a compact form. It becomes
// what a debugger, or a trace file, has of it when somebody asks for it. Sizes are those of what is
// kept, but for the stream's.
//
// A frame is there whole or not at all. The bytes form a ring, and a frame may wrap around its end,
// which no reader gets to see.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/buffer/buffer_memory.h"
#include "agent/buffer/frame_record.h"
#include "agent/trace.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "ring/layout.h"
#include "rsp/frames.h"

namespace tracewell::agent {

class TraceBuffer final : public FrameStore {
 public:
  static constexpr uint64_t kBytesDefault = 0x500000;  // as gdbserver

  /// Another size, and empty. Memory is taken as it is written to. Limit when there is more asked
  /// for than the machine has, and then nothing changes. 0 is a size that no frame fits.
  Status resize(uint64_t bytes);
  /// No frames, nothing created. The memory begins to go back to the system.
  void begin_clear();
  bool settled() override { return memory_.settled(); }
  /// The same, and waits until all of it has gone.
  void clear();
  /// How blocks are encoded; before the first frame.
  void set_machine(uint32_t register_block_bytes, Endian endian);
  void set_circular(bool circular) { circular_ = circular; }

  /// From now on in this file, which is empty as this is. On failure nothing changed.
  Status move_into(BufferFile file);
  const BufferFile* file() { return memory_.file(); }
  /// For what is not about frames: what the file says else, and how much memory there is. Its size,
  /// its place and that it is emptied are for the functions here.
  BufferMemory& memory() { return memory_; }
  /// Its file stays when we end if there are frames in it that have come since anybody looked at
  /// one; returns whether it is so.
  bool keep_unseen();
  bool has_unseen();

  /// Adds a frame; `data` are its blocks. A circular buffer drops its oldest frames to make room.
  /// false = it does not fit (or, refusal(): there is no memory), and nothing changed.
  bool append(const FrameRecord& record, Bytes data);
  /// The same in two steps, for blocks that need not be made compact, and that are checked once
  /// they are where they are to be. First room for so many bytes of blocks, where the oldest frames
  /// went for it; empty: append() has to do, or says why not.
  std::span<uint8_t> room_for(size_t blocks_bytes);
  /// Then the frame, whose blocks stand there.
  void commit(uint32_t shape, int32_t tid, int64_t time_ns, size_t blocks_bytes);
  /// What frames with this tracepoint, pc and mask have in common, as long as nothing is cleared.
  /// nullopt: there is no room for another one.
  std::optional<uint32_t> shape_of(const FrameRecord& record);
  /// Changes when shapes are not any more what they were.
  uint64_t generation() const { return generation_; }
  /// What the last append() or commit() that went well has taken.
  uint64_t appended_bytes() const { return appended_bytes_; }
  /// Why the last append() got no memory; empty = that was not it.
  std::string refusal() const { return refused_ ? memory_.refusal() : ""; }

  bool circular() const { return circular_; }
  uint64_t size_bytes() const { return memory_.data_bytes(); }
  uint64_t free_bytes() const { return size_bytes() - (end_.at - begin_.at); }
  uint64_t created() const { return end_.number; }
  /// Of a frame that is there.
  FrameRecord record(uint64_t number);
  Endian endian() const { return endian_; }
  uint32_t register_block_bytes() const { return register_block_bytes_; }

  uint64_t count() const override { return end_.number - begin_.number; }
  Result<Frame> frame(uint64_t number) override;
  Result<std::optional<uint64_t>> find(const rsp::FrameSelect& select, uint64_t from,
                                       const GoOn& go_on) override;
  uint64_t stream_bytes() const override { return end_.stream - begin_.stream; }
  Result<std::vector<uint8_t>> read_stream(uint64_t offset, size_t size) override;

 private:
  using Entry = ring::FrameEntry;
  /// Where a frame is: in memory, in all that was ever written, in all that the stream ever had.
  /// (What was ever written could tell where in memory, but a division takes as long as all else of
  /// a frame.)
  struct Place {
    uint64_t number, offset, at, stream;
  };
  /// Where frames will be soon is fetched before that, by so much.
  static constexpr uint64_t kAheadBytes = 2048;
  static constexpr uint64_t kMarkFrames = 128, kManyFrames = 64 * kMarkFrames;
  void forget(uint64_t position);
  uint64_t next_turn(uint64_t bytes) const;
  void add(uint32_t bytes, uint64_t stream_bytes);
  void make_free(uint64_t bytes) {
    if (free_bytes() < bytes) drop_until(bytes);
  }
  void drop_until(uint64_t free_bytes);
  /// Of one that may be behind the end of memory, by less than its size.
  uint64_t wrapped(uint64_t offset) const {
    return offset >= size_bytes() ? offset - size_bytes() : offset;
  }
  void put(uint64_t offset, Bytes bytes);
  void get(uint64_t offset, std::span<uint8_t> into) const;
  static uint64_t head_bytes(const Entry& entry);
  Entry entry(const Place& place) const;
  uint64_t pc_of(const Entry& entry, const Place& place) const;
  Bytes blocks_of(const Entry& entry, const Place& place);
  uint64_t stream_bytes_of(const Entry& entry, const Place& place);
  void step(Place& place);
  Place place_of(uint64_t number);
  Place place_in_stream(uint64_t byte);
  Place& mark(uint64_t number) { return marks_[number / kMarkFrames % marks_max_]; }
  Status expand(const Entry& entry, const Place& place, std::vector<uint8_t>& into);

  BufferMemory memory_;
  Place begin_{}, end_{};  // of the oldest frame that is kept, and of the next
  uint64_t base_ = 0;      // where the first frame of all was, in all that was ever written
  uint64_t seen_ = 0;      // the next one's number, when somebody looked at a frame
  std::unique_ptr<Place[]> marks_;  // of each kMarkFrames-th frame that is there
  uint64_t marks_max_ = 0;
  Place last_{};  // that was looked for
  std::array<uint32_t, 256> shapes_near_{};  // by what tells most of them apart: number + 1
  std::unordered_multimap<uint64_t, uint32_t> shapes_;  // likewise, all
  uint64_t appended_bytes_ = 0, generation_ = 0;
  bool circular_ = false;
  bool refused_ = false;  // by the last append()
  Endian endian_ = Endian::Little;
  uint32_t register_block_bytes_ = 0;
  std::vector<uint8_t> joined_;    // blocks that wrap, put together
  std::vector<uint8_t> expanded_;  // for frame()
  std::vector<uint8_t> compact_;   // for append()
  std::vector<FrameBlock> blocks_;
};

inline std::span<uint8_t> TraceBuffer::room_for(size_t blocks_bytes) {
  const uint64_t bytes = (sizeof(Entry) + blocks_bytes + 3) / 4 * 4, size = size_bytes();
  if (bytes > size || (!circular_ && bytes > free_bytes())) return {};
  if (end_.offset + bytes > size || !memory_.ready(std::min(end_.at - base_ + bytes, size)))
    return {};
  make_free(bytes);
  uint8_t* const to = memory_.data() + end_.offset;
  prefetch_for_store(to + kAheadBytes);
  prefetch_for_store(to + kAheadBytes + kCacheLine);
  return {to + sizeof(Entry), blocks_bytes};
}

/// Field by field: processors are slow to load as a whole what was just stored in parts.
inline void TraceBuffer::commit(uint32_t shape, int32_t tid, int64_t time_ns, size_t blocks_bytes) {
  const uint64_t size = sizeof(Entry) + blocks_bytes, fill = -size % 4;
  const auto bytes = static_cast<uint32_t>(size + fill);
  const auto number = static_cast<uint32_t>(end_.number);
  const uint32_t what = shape | static_cast<uint32_t>(fill) << Entry::kFillShift;
  uint8_t* const to = memory_.data() + end_.offset;
  std::memcpy(to + offsetof(Entry, bytes), &bytes, sizeof bytes);
  std::memcpy(to + offsetof(Entry, number), &number, sizeof number);
  std::memcpy(to + offsetof(Entry, time_ns), &time_ns, sizeof time_ns);
  std::memcpy(to + offsetof(Entry, tid), &tid, sizeof tid);
  std::memcpy(to + offsetof(Entry, what), &what, sizeof what);
  add(bytes, rsp::kFrameHeaderBytes + blocks_bytes);
}

/// All of it is there.
inline void TraceBuffer::add(uint32_t bytes, uint64_t stream_bytes) {
  if (end_.number % kMarkFrames == 0) mark(end_.number) = end_;
  ++end_.number;
  end_.offset = wrapped(end_.offset + bytes);
  end_.at += bytes;
  end_.stream += stream_bytes;
  appended_bytes_ = bytes;
  ring::publish(memory_.header().end, end_.at);
  ring::publish(memory_.header().next, end_.number);
}

}  // namespace tracewell::agent
