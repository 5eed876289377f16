#include "rsp/frames.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tracewell::rsp {

std::optional<FrameHeader> read_frame_header(Bytes at, Endian endian) {
  if (at.size() < 2) return std::nullopt;
  const auto tracepoint = static_cast<int16_t>(load_uint(at.data(), 2, endian));
  if (at.size() < kFrameHeaderBytes) {
    if (tracepoint != 0) return std::nullopt;
    return FrameHeader{};
  }
  return FrameHeader{tracepoint, static_cast<uint32_t>(load_uint(at.data() + 2, 4, endian))};
}

std::optional<FrameBlock> BlockWalker::next() {
  if (failed_ || in_.at_end()) return std::nullopt;
  FrameBlock block;
  start_ = in_.offset();
  type_ = static_cast<uint8_t>(*in_.uint(1));
  if (!read(block)) {
    failed_ = true;
    return std::nullopt;
  }
  start_ = in_.offset();
  return block;
}

bool BlockWalker::read(FrameBlock& block) {
  std::optional<uint64_t> length = register_block_bytes_;
  switch (type_) {
    case 'R': block.kind = FrameBlock::Kind::Registers; break;
    case 'M': {
      block.kind = FrameBlock::Kind::Memory;
      const auto address = in_.uint(8);
      if (!address) return false;
      block.address = *address;
      length = in_.uint(2);
      break;
    }
    case 'V': {
      block.kind = FrameBlock::Kind::Variable;
      const auto number = in_.uint(4);
      const auto value = in_.uint(8);
      if (!number || !value) return false;
      block.number = static_cast<int32_t>(*number);
      block.value = static_cast<int64_t>(*value);
      return true;
    }
    case 'S':
      block.kind = FrameBlock::Kind::Static;
      length = in_.uint(2);
      break;
    default: return false;
  }
  const auto bytes = length ? in_.take(*length) : std::nullopt;
  if (!bytes) return false;
  block.bytes = *bytes;
  return true;
}

Error BlockWalker::error() const {
  const bool known = type_ == 'R' || type_ == 'M' || type_ == 'V' || type_ == 'S';
  if (known)
    return {Errc::Truncated, fmt::format("'{}' block is cut", static_cast<char>(type_)), start_};
  return {Errc::Corrupt, fmt::format("unknown block type 0x{:02x}", type_), start_};
}

uint64_t encoded_size(const FrameBlock& block) {
  const uint64_t size = block.bytes.size();
  switch (block.kind) {
    case FrameBlock::Kind::Registers: return 1 + size;
    case FrameBlock::Kind::Variable: return 13;
    case FrameBlock::Kind::Static: return 3 + size;
    case FrameBlock::Kind::Memory: break;
  }
  const uint64_t pieces = size == 0 ? 1 : (size - 1) / kMemoryBlockMax + 1;
  return 11 * pieces + size;
}

uint64_t encoded_size(std::span<const FrameBlock> blocks) {
  uint64_t total = 0;
  for (const FrameBlock& block : blocks) total += encoded_size(block);
  return total;
}

Status encode_block(std::vector<uint8_t>& out, const FrameBlock& block, Endian endian) {
  ByteWriter writer(out, endian);
  switch (block.kind) {
    case FrameBlock::Kind::Registers:
      writer.uint('R', 1);
      writer.bytes(block.bytes);
      break;
    case FrameBlock::Kind::Memory: {
      Bytes left = block.bytes;
      uint64_t address = block.address;
      do {
        const Bytes piece = left.first(std::min(left.size(), kMemoryBlockMax));
        writer.uint('M', 1);
        writer.uint(address, 8);
        writer.uint(piece.size(), 2);
        writer.bytes(piece);
        left = left.subspan(piece.size());
        address += piece.size();
      } while (!left.empty());
      break;
    }
    case FrameBlock::Kind::Variable:
      writer.uint('V', 1);
      writer.uint(static_cast<uint32_t>(block.number), 4);
      writer.uint(static_cast<uint64_t>(block.value), 8);
      break;
    case FrameBlock::Kind::Static:
      if (block.bytes.size() > kMemoryBlockMax)
        return {Errc::Limit, "static data longer than 65535 bytes fit no trace frame"};
      writer.uint('S', 1);
      writer.uint(block.bytes.size(), 2);
      writer.bytes(block.bytes);
      break;
  }
  return {};
}

Status encode_frame(std::vector<uint8_t>& out, int32_t tracepoint,
                    std::span<const FrameBlock> blocks, Endian endian) {
  if (tracepoint == 0 || tracepoint != static_cast<int16_t>(tracepoint))
    return {Errc::Limit, fmt::format("tracepoint number {} fits no trace frame", tracepoint)};
  const uint64_t size = encoded_size(blocks);
  if (size > std::numeric_limits<uint32_t>::max())
    return {Errc::Limit, fmt::format("{} bytes fit no trace frame", size)};
  const size_t before = out.size();
  out.reserve(before + kFrameHeaderBytes + size);
  ByteWriter writer(out, endian);
  writer.uint(static_cast<uint16_t>(tracepoint), 2);
  writer.uint(size, 4);
  for (const FrameBlock& block : blocks) {
    if (Status status = encode_block(out, block, endian); !status.ok()) {
      out.resize(before);
      return status;
    }
  }
  return {};
}

}  // namespace tracewell::rsp
