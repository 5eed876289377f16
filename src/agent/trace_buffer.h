// TraceBuffer: the frames of a live trace, in the bytes of a trace file's frame section, in one
// block of memory of the size that was asked for.
//
// A frame is there whole or not at all. The bytes form a ring: every byte of the block can be used,
// and a frame may wrap around its end, which no reader gets to see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/trace.h"
#include "agent/trace_index.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"

namespace tracewell::agent {

class TraceBuffer final : public FrameStore {
 public:
  static constexpr uint64_t kBytesDefault = 0x500000;  // as gdbserver

  TraceBuffer() = default;
  ~TraceBuffer() override;
  TraceBuffer(const TraceBuffer&) = delete;
  TraceBuffer& operator=(const TraceBuffer&) = delete;

  /// Another size, and empty. Memory is taken as it is written to. Limit when there is more asked
  /// for than the machine has, and then nothing changes. 0 is a size that no frame fits.
  Status resize(uint64_t bytes);
  /// No frames, nothing created; the memory goes back to the system.
  void clear();
  /// How blocks are encoded; before the first frame.
  void set_machine(uint32_t register_block_bytes, Endian endian);
  void set_circular(bool circular) { circular_ = circular; }

  /// Adds a frame; `data` are its blocks. `record.at` and `.size` are set here. A circular buffer
  /// drops its oldest frames to make room. false = it does not fit, and nothing changed.
  bool append(FrameRecord record, Bytes data);

  bool circular() const { return circular_; }
  uint64_t size_bytes() const { return capacity_; }
  uint64_t free_bytes() const { return capacity_ - (end_ - begin()); }
  uint64_t created() const { return created_; }
  const FrameRecord& record(uint64_t number) const { return index_[number]; }
  Endian endian() const { return endian_; }
  uint32_t register_block_bytes() const { return register_block_bytes_; }

  uint64_t count() const override { return index_.size(); }
  Result<Frame> frame(uint64_t number) override;
  std::optional<uint64_t> find(const rsp::FrameSelect& select, uint64_t from) override;
  uint64_t stream_bytes() const override { return end_ - begin(); }
  Result<std::vector<uint8_t>> read_stream(uint64_t offset, size_t size) override;

 private:
  uint64_t begin() const { return index_.empty() ? end_ : index_.front().at; }
  void put(uint64_t at, Bytes bytes);
  void get(uint64_t at, std::span<uint8_t> into) const;
  Bytes data(const FrameRecord& record);

  uint8_t* memory_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t end_ = 0;  // bytes ever written; a byte stands at (its number mod capacity)
  uint64_t created_ = 0;
  bool circular_ = false;
  Endian endian_ = Endian::Little;
  uint32_t register_block_bytes_ = 0;
  TraceIndex index_;
  std::vector<uint8_t> joined_;  // a frame that wraps, put together for frame()
  std::vector<FrameBlock> blocks_;
};

}  // namespace tracewell::agent
