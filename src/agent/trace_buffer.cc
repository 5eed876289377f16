#include "agent/trace_buffer.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::agent {

namespace {

bool matches(const FrameRecord& record, const rsp::FrameSelect& select) {
  using Kind = rsp::FrameSelect::Kind;
  const bool inside = select.lo <= record.pc && record.pc <= select.hi;
  switch (select.kind) {
    case Kind::None:
    case Kind::Number: return false;
    case Kind::Pc: return record.pc == select.lo;
    case Kind::Tracepoint: return record.tracepoint == static_cast<int64_t>(select.number);
    case Kind::Range: return inside;
    case Kind::Outside: return !inside;
  }
  return false;
}

}  // namespace

Status TraceBuffer::resize(uint64_t bytes) {
  TW_RETURN_IF_ERROR(memory_.create(bytes));
  first_ = next_ = seen_ = begin_ = end_ = 0;
  return {};
}

Status TraceBuffer::move_into(BufferFile file) {
  TW_CHECK(count() == 0);
  TW_RETURN_IF_ERROR(memory_.move_into(std::move(file)));
  first_ = next_ = begin_ = end_ = 0;
  return {};
}

void TraceBuffer::clear() {
  memory_.clear();
  first_ = next_ = begin_ = end_ = 0;
}

bool TraceBuffer::has_unseen() {
  return memory_.file() != nullptr && count() != 0 && seen_ != next_;
}

bool TraceBuffer::keep_unseen() {
  if (!has_unseen()) return false;
  memory_.file()->keep();
  return true;
}

void TraceBuffer::set_machine(uint32_t register_block_bytes, Endian endian) {
  register_block_bytes_ = register_block_bytes;
  endian_ = endian;
  memory_.set_machine(register_block_bytes, endian);
}

bool TraceBuffer::append(FrameRecord record, Bytes data) {
  refused_ = false;
  const uint64_t size = rsp::kFrameHeaderBytes + data.size();
  if (data.size() > UINT32_MAX || size > size_bytes()) return false;
  if (!circular_ && size > free_bytes()) return false;
  refused_ = !memory_.ready(next_, std::min(end_ + size, size_bytes()));
  if (refused_) return false;
  drop_until(size);

  uint8_t header[rsp::kFrameHeaderBytes];
  store_uint(header, static_cast<uint16_t>(record.tracepoint), 2, endian_);
  store_uint(header + 2, data.size(), 4, endian_);
  put(end_, header);
  put(end_ + sizeof header, data);
  record.at = end_;
  record.size = static_cast<uint32_t>(data.size());
  record.check = static_cast<uint32_t>(next_);
  memory_.record(next_) = record;
  end_ += size;
  ring::publish(memory_.header().next, ++next_);
  return true;
}

/// The oldest frames go before a byte of theirs is written over.
void TraceBuffer::drop_until(uint64_t free) {
  if (free_bytes() >= free) return;
  while (free_bytes() < free) {
    ++first_;
    begin_ = first_ == next_ ? end_ : memory_.record(first_).at;
  }
  ring::publish(memory_.header().first, first_);
  ring::write_barrier();
  memory_.forget_before(first_);
}

void TraceBuffer::put(uint64_t at, Bytes bytes) {
  if (bytes.empty()) return;
  const uint64_t offset = at % size_bytes();
  const size_t first = std::min<uint64_t>(bytes.size(), size_bytes() - offset);
  std::memcpy(memory_.data() + offset, bytes.data(), first);
  std::memcpy(memory_.data(), bytes.data() + first, bytes.size() - first);
}

void TraceBuffer::get(uint64_t at, std::span<uint8_t> into) const {
  if (into.empty()) return;
  const uint64_t offset = at % size_bytes();
  const size_t first = std::min<uint64_t>(into.size(), size_bytes() - offset);
  std::memcpy(into.data(), memory_.data() + offset, first);
  std::memcpy(into.data() + first, memory_.data(), into.size() - first);
}

Bytes TraceBuffer::data(const FrameRecord& record) {
  const uint64_t at = record.at + rsp::kFrameHeaderBytes;
  const uint64_t offset = at % size_bytes();
  if (offset + record.size <= size_bytes()) return {memory_.data() + offset, record.size};
  joined_.resize(record.size);
  get(at, joined_);
  return joined_;
}

Result<Frame> TraceBuffer::frame(uint64_t number) {
  if (number >= count())
    return {Errc::NotFound, fmt::format("there is no trace frame {}", number)};
  seen_ = next_;
  const FrameRecord& record = this->record(number);
  blocks_.clear();
  TW_RETURN_IF_ERROR(rsp::walk_blocks(data(record), register_block_bytes_, endian_,
                                      [&](const FrameBlock& block) { blocks_.push_back(block); }));
  Frame frame;
  frame.tracepoint = record.tracepoint;
  frame.pc = record.pc;
  frame.blocks = blocks_;
  if (record.masked != 0) frame.registers_valid = record.mask;
  return frame;
}

std::optional<uint64_t> TraceBuffer::find(const rsp::FrameSelect& select, uint64_t from) {
  if (select.kind == rsp::FrameSelect::Kind::Number) {
    if (select.number < from || select.number >= count()) return std::nullopt;
    return select.number;
  }
  for (uint64_t i = from; i < count(); ++i)
    if (matches(record(i), select)) return i;
  return std::nullopt;
}

Result<std::vector<uint8_t>> TraceBuffer::read_stream(uint64_t offset, size_t size) {
  seen_ = next_;
  std::vector<uint8_t> bytes;
  if (offset >= stream_bytes()) return bytes;
  bytes.resize(std::min<uint64_t>(size, stream_bytes() - offset));
  get(begin_ + offset, bytes);
  return bytes;
}

}  // namespace tracewell::agent
