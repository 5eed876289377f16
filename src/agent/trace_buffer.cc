#include "agent/trace_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::agent {

namespace {

// The memory is reserved without being counted by the system, so that a large buffer costs nothing
// until it is filled; hence a bound of our own.
uint64_t machine_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return uint64_t{1} << 32;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

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

TraceBuffer::~TraceBuffer() {
  if (memory_ != nullptr) munmap(memory_, capacity_);
}

Status TraceBuffer::resize(uint64_t bytes) {
  if (bytes > machine_memory_bytes())
    return {Errc::Limit,
            fmt::format("a trace buffer of {} bytes is more than this machine's memory", bytes)};
  void* memory = nullptr;
  if (bytes > 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return errno_error(fmt::format("cannot get {} bytes for the trace buffer", bytes));
  }
  if (memory_ != nullptr) munmap(memory_, capacity_);
  memory_ = static_cast<uint8_t*>(memory);
  capacity_ = bytes;
  clear();
  return {};
}

void TraceBuffer::clear() {
  if (memory_ != nullptr && end_ > 0) madvise(memory_, capacity_, MADV_DONTNEED);
  end_ = created_ = 0;
  index_.clear();
}

void TraceBuffer::set_machine(uint32_t register_block_bytes, Endian endian) {
  register_block_bytes_ = register_block_bytes;
  endian_ = endian;
}

bool TraceBuffer::append(FrameRecord record, Bytes data) {
  const uint64_t size = rsp::kFrameHeaderBytes + data.size();
  if (data.size() > UINT32_MAX || size > capacity_) return false;
  if (!circular_ && size > free_bytes()) return false;
  while (size > free_bytes()) index_.pop_front();

  uint8_t header[rsp::kFrameHeaderBytes];
  store_uint(header, static_cast<uint16_t>(record.tracepoint), 2, endian_);
  store_uint(header + 2, data.size(), 4, endian_);
  put(end_, header);
  put(end_ + sizeof header, data);
  record.at = end_;
  record.size = static_cast<uint32_t>(data.size());
  index_.push_back(record);
  end_ += size;
  ++created_;
  return true;
}

void TraceBuffer::put(uint64_t at, Bytes bytes) {
  if (bytes.empty()) return;
  const uint64_t offset = at % capacity_;
  const size_t first = std::min<uint64_t>(bytes.size(), capacity_ - offset);
  std::memcpy(memory_ + offset, bytes.data(), first);
  std::memcpy(memory_, bytes.data() + first, bytes.size() - first);
}

void TraceBuffer::get(uint64_t at, std::span<uint8_t> into) const {
  if (into.empty()) return;
  const uint64_t offset = at % capacity_;
  const size_t first = std::min<uint64_t>(into.size(), capacity_ - offset);
  std::memcpy(into.data(), memory_ + offset, first);
  std::memcpy(into.data() + first, memory_, into.size() - first);
}

Bytes TraceBuffer::data(const FrameRecord& record) {
  const uint64_t at = record.at + rsp::kFrameHeaderBytes;
  if (at % capacity_ + record.size <= capacity_) return {memory_ + at % capacity_, record.size};
  joined_.resize(record.size);
  get(at, joined_);
  return joined_;
}

Result<Frame> TraceBuffer::frame(uint64_t number) {
  if (number >= index_.size())
    return {Errc::NotFound, fmt::format("there is no trace frame {}", number)};
  const FrameRecord& record = index_[number];
  blocks_.clear();
  TW_RETURN_IF_ERROR(rsp::walk_blocks(data(record), register_block_bytes_, endian_,
                                      [&](const FrameBlock& block) { blocks_.push_back(block); }));
  Frame frame;
  frame.tracepoint = record.tracepoint;
  frame.pc = record.pc;
  frame.blocks = blocks_;
  return frame;
}

std::optional<uint64_t> TraceBuffer::find(const rsp::FrameSelect& select, uint64_t from) {
  if (select.kind == rsp::FrameSelect::Kind::Number) {
    if (select.number < from || select.number >= count()) return std::nullopt;
    return select.number;
  }
  for (uint64_t i = from; i < count(); ++i)
    if (matches(index_[i], select)) return i;
  return std::nullopt;
}

Result<std::vector<uint8_t>> TraceBuffer::read_stream(uint64_t offset, size_t size) {
  std::vector<uint8_t> bytes;
  if (offset >= stream_bytes()) return bytes;
  bytes.resize(std::min<uint64_t>(size, stream_bytes() - offset));
  get(begin() + offset, bytes);
  return bytes;
}

}  // namespace tracewell::agent
