// Trace frames as bytes: the trace buffer, qTBuffer's stream and the frame section of trace files.
//   frame = int16 tracepoint, uint32 size of data, data
//   block = 'R' registers | 'M' uint64 address, uint16 length, bytes
//         | 'V' int32 number, int64 value | 'S' uint16 length, bytes
// In the target's byte order, without alignment. A tracepoint number of 0 ends the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/event.h"

namespace tracewell::rsp {

inline constexpr size_t kFrameHeaderBytes = 6;
inline constexpr size_t kMemoryBlockMax = 65535;  // bytes one M (or S) block can hold

struct FrameHeader {
  int16_t tracepoint = 0;  // 0: the end of the stream
  uint32_t size = 0;       // bytes of data that follow, without the header
};

/// nullopt when there are fewer than kFrameHeaderBytes, except that two zero bytes are enough for
/// the end of the stream (size is then 0).
std::optional<FrameHeader> read_frame_header(Bytes at, Endian endian);

/// Walks the blocks of one frame's data. Blocks borrow from it. Allocates nothing.
class BlockWalker {
 public:
  /// `register_block_bytes`: size of the `R` block, known from the target description.
  BlockWalker(Bytes data, uint32_t register_block_bytes, Endian endian)
      : in_(data, endian), register_block_bytes_(register_block_bytes) {}

  /// The next block; nullopt at the end, and at the first block that is unknown or cut (failed()).
  std::optional<FrameBlock> next();
  bool failed() const { return failed_; }
  /// Of the next block, or of the one that failed; bytes from the start of the data.
  size_t offset() const { return start_; }
  /// Corrupt (unknown block type) or Truncated, with the offset in the data. Only when failed().
  Error error() const;

 private:
  bool read(FrameBlock& block);
  ByteReader in_;
  uint32_t register_block_bytes_;
  size_t start_ = 0;
  uint8_t type_ = 0;
  bool failed_ = false;
};

/// Calls `visit(const FrameBlock&)` for each sound block; the error is BlockWalker's.
template <class Visitor>
Status walk_blocks(Bytes data, uint32_t register_block_bytes, Endian endian, Visitor&& visit) {
  BlockWalker walker(data, register_block_bytes, endian);
  while (auto block = walker.next()) visit(*block);
  if (walker.failed()) return walker.error();
  return {};
}

/// Bytes that the block takes when encoded; a Memory block is split at kMemoryBlockMax.
uint64_t encoded_size(const FrameBlock& block);
/// Bytes of the frame's data, without the header.
uint64_t encoded_size(std::span<const FrameBlock> blocks);

/// Appends one block. Limit when a Static block is longer than 65535 bytes.
Status encode_block(std::vector<uint8_t>& out, const FrameBlock& block, Endian endian);
/// Appends header and data. Limit when the number does not fit int16 or is 0 (it would end the
/// stream), or the data do not fit uint32; `out` is then unchanged.
Status encode_frame(std::vector<uint8_t>& out, int32_t tracepoint,
                    std::span<const FrameBlock> blocks, Endian endian);

}  // namespace tracewell::rsp
