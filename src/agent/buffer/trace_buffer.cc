#include "agent/buffer/trace_buffer.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/compact_blocks.h"
#include "rsp/frames.h"

namespace tracewell::agent {

namespace {

constexpr uint64_t kAskedBytes = 1 << 16;  // of frames that are looked at between two questions

bool matches(int64_t tracepoint, uint64_t pc, const rsp::FrameSelect& select) {
  using Kind = rsp::FrameSelect::Kind;
  const bool inside = select.lo <= pc && pc <= select.hi;
  switch (select.kind) {
    case Kind::None:
    case Kind::Number: return false;
    case Kind::Pc: return pc == select.lo;
    case Kind::Tracepoint: return tracepoint == static_cast<int64_t>(select.number);
    case Kind::Range: return inside;
    case Kind::Outside: return !inside;
  }
  return false;
}

}  // namespace

/// Where a ring of that size begins anew, behind all that was ever written: who reads the file
/// never takes new frames for old ones.
uint64_t TraceBuffer::next_turn(uint64_t bytes) const {
  return bytes == 0 ? end_.at : (end_.at + bytes - 1) / bytes * bytes;
}

Status TraceBuffer::resize(uint64_t bytes) {
  TW_RETURN_IF_ERROR(memory_.create(bytes, next_turn(bytes)));
  marks_max_ = bytes / sizeof(Entry) / kMarkFrames + 2;
  marks_ = std::make_unique_for_overwrite<Place[]>(marks_max_);  // untouched, it takes no memory
  forget(next_turn(bytes));
  return {};
}

Status TraceBuffer::move_into(BufferFile file) {
  TW_CHECK(count() == 0);
  TW_RETURN_IF_ERROR(memory_.move_into(std::move(file)));
  forget(base_);
  return {};
}

void TraceBuffer::begin_clear() {
  const uint64_t position = next_turn(size_bytes());
  memory_.begin_clear(position);
  forget(position);
}

void TraceBuffer::clear() {
  begin_clear();
  memory_.settle();
}

void TraceBuffer::forget(uint64_t position) {
  begin_ = end_ = last_ = {};
  base_ = begin_.at = end_.at = last_.at = position;
  seen_ = 0;
  shapes_near_ = {};
  shapes_.clear();
  ++generation_;
}

bool TraceBuffer::has_unseen() {
  return memory_.file() != nullptr && count() != 0 && seen_ != end_.number;
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

/// nullopt: there is no room for another one.
std::optional<uint32_t> TraceBuffer::shape_of(const FrameRecord& record) {
  ring::FrameShape wanted{.pc = record.is_step ? 0 : record.pc,
                          .tracepoint = record.tracepoint,
                          .masked = record.masked};
  if (record.masked != 0) std::ranges::copy(record.mask, wanted.mask);
  const uint64_t key = wanted.pc ^ uint64_t{static_cast<uint16_t>(record.tracepoint)} << 48;
  uint32_t& near = shapes_near_[(key ^ key >> 48) % shapes_near_.size()];
  if (near != 0 && memory_.shape(near - 1) == wanted) return near - 1;
  const auto [first, last] = shapes_.equal_range(key);
  const auto known = std::find_if(
      first, last, [&](const auto& one) { return memory_.shape(one.second) == wanted; });
  const auto number = static_cast<uint32_t>(memory_.shape_count());
  if (known == last && !memory_.add_shape(wanted)) return std::nullopt;
  if (known == last) shapes_.emplace(key, number);
  near = (known == last ? number : known->second) + 1;
  return near - 1;
}

bool TraceBuffer::append(const FrameRecord& record, Bytes data) {
  refused_ = false;
  if (data.size() > UINT32_MAX / 2) return false;
  compact_.clear();
  Entry entry;
  const bool registers =
      rsp::compact_blocks(data, register_block_bytes_, endian_, compact_);
  const size_t pc_bytes = record.is_step ? sizeof record.pc : 0;
  const uint64_t size = sizeof entry + pc_bytes + compact_.size(), fill = -size % 4;
  entry.bytes = static_cast<uint32_t>(size + fill);
  if (entry.bytes > size_bytes()) return false;
  if (!circular_ && entry.bytes > free_bytes()) return false;
  const auto shape = shape_of(record);
  refused_ = !shape || !memory_.ready(std::min(end_.at - base_ + entry.bytes, size_bytes()));
  if (refused_) return false;
  make_free(entry.bytes);

  entry.what = *shape | (record.is_step ? Entry::kOwnPc : 0) |
               (registers ? Entry::kRegisters : 0) |
               static_cast<uint32_t>(fill) << Entry::kFillShift;
  put(end_.offset + sizeof entry, {reinterpret_cast<const uint8_t*>(&record.pc), pc_bytes});
  put(end_.offset + sizeof entry + pc_bytes, compact_);
  entry.number = static_cast<uint32_t>(end_.number);
  entry.time_ns = record.time_ns;
  entry.tid = record.tid;
  put(end_.offset, {reinterpret_cast<const uint8_t*>(&entry), sizeof entry});
  add(entry.bytes, rsp::kFrameHeaderBytes + data.size());
  return true;
}

/// The oldest frames go before a byte of theirs is written over. Where there are many, those up to
/// the next mark go together: to look at each of them takes as long as to write a new one.
void TraceBuffer::drop_until(uint64_t free) {
  while (free_bytes() < free) {
    if (count() > kManyFrames) begin_ = mark((begin_.number / kMarkFrames + 1) * kMarkFrames);
    else step(begin_);
  }
  ring::publish(memory_.header().first, begin_.number);
  ring::publish(memory_.header().begin, begin_.at);
  ring::write_barrier();
}

void TraceBuffer::put(uint64_t offset, Bytes bytes) {
  if (bytes.empty()) return;
  offset = wrapped(offset);
  const size_t first = std::min<uint64_t>(bytes.size(), size_bytes() - offset);
  std::memcpy(memory_.data() + offset, bytes.data(), first);
  if (first < bytes.size())
    std::memcpy(memory_.data(), bytes.data() + first, bytes.size() - first);
}

void TraceBuffer::get(uint64_t offset, std::span<uint8_t> into) const {
  if (into.empty()) return;
  offset = wrapped(offset);
  const size_t first = std::min<uint64_t>(into.size(), size_bytes() - offset);
  std::memcpy(into.data(), memory_.data() + offset, first);
  if (first < into.size())
    std::memcpy(into.data() + first, memory_.data(), into.size() - first);
}

TraceBuffer::Entry TraceBuffer::entry(const Place& place) const {
  Entry out;
  get(place.offset, {reinterpret_cast<uint8_t*>(&out), sizeof out});
  return out;
}

uint64_t TraceBuffer::pc_of(const Entry& entry, const Place& place) const {
  if ((entry.what & Entry::kOwnPc) == 0) return memory_.shape(entry.shape()).pc;
  uint64_t pc = 0;
  get(place.offset + sizeof entry, {reinterpret_cast<uint8_t*>(&pc), sizeof pc});
  return pc;
}

/// In front of its blocks.
uint64_t TraceBuffer::head_bytes(const Entry& entry) {
  return sizeof entry + ((entry.what & Entry::kOwnPc) != 0 ? sizeof(uint64_t) : 0);
}

/// Valid until the next call.
Bytes TraceBuffer::blocks_of(const Entry& entry, const Place& place) {
  const uint64_t head = head_bytes(entry);
  const size_t size = entry.bytes - head - entry.fill();
  if (size == 0) return {};
  const uint64_t offset = wrapped(place.offset + head);
  if (offset + size <= size_bytes()) return {memory_.data() + offset, size};
  joined_.resize(size);
  get(offset, joined_);
  return joined_;
}

uint64_t TraceBuffer::stream_bytes_of(const Entry& entry, const Place& place) {
  if ((entry.what & Entry::kRegisters) == 0)
    return rsp::kFrameHeaderBytes + entry.bytes - head_bytes(entry) - entry.fill();
  return rsp::kFrameHeaderBytes +
         rsp::expanded_bytes(blocks_of(entry, place), register_block_bytes_, endian_);
}

void TraceBuffer::step(Place& place) {
  const Entry entry = this->entry(place);
  place.stream += stream_bytes_of(entry, place);
  place.offset = wrapped(place.offset + entry.bytes);
  place.at += entry.bytes;
  ++place.number;
}

TraceBuffer::Place TraceBuffer::place_of(uint64_t number) {
  const uint64_t marked = number / kMarkFrames * kMarkFrames;
  Place place = marked < begin_.number ? begin_ : mark(marked);
  if (last_.number > place.number && last_.number <= number) place = last_;
  while (place.number < number) step(place);
  return last_ = place;
}

/// The frame that holds this byte of the stream.
TraceBuffer::Place TraceBuffer::place_in_stream(uint64_t byte) {
  uint64_t low = begin_.number / kMarkFrames, high = (end_.number - 1) / kMarkFrames;
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (mark(middle * kMarkFrames).stream <= byte) low = middle;
    else high = middle - 1;
  }
  Place place = low * kMarkFrames < begin_.number ? begin_ : mark(low * kMarkFrames);
  if (last_.number > place.number && last_.stream <= byte) place = last_;
  for (Place next = place; next.number < end_.number; place = next) {
    step(next);
    if (next.stream > byte) break;
  }
  return last_ = place;
}

FrameRecord TraceBuffer::record(uint64_t number) {
  const Place place = place_of(begin_.number + number);
  const Entry entry = this->entry(place);
  const ring::FrameShape& shape = memory_.shape(entry.shape());
  FrameRecord out;
  out.pc = pc_of(entry, place);
  out.time_ns = entry.time_ns;
  out.tid = entry.tid;
  out.tracepoint = shape.tracepoint;
  out.is_step = (entry.what & Entry::kOwnPc) != 0;
  out.masked = shape.masked;
  std::ranges::copy(shape.mask, out.mask);
  return out;
}

Status TraceBuffer::expand(const Entry& entry, const Place& place, std::vector<uint8_t>& into) {
  return rsp::expand_blocks(blocks_of(entry, place), register_block_bytes_, endian_, into);
}

Result<Frame> TraceBuffer::frame(uint64_t number) {
  if (number >= count())
    return {Errc::NotFound, fmt::format("there is no trace frame {}", number)};
  seen_ = end_.number;
  const Place place = place_of(begin_.number + number);
  const Entry entry = this->entry(place);
  const ring::FrameShape& shape = memory_.shape(entry.shape());
  expanded_.clear();
  blocks_.clear();
  TW_RETURN_IF_ERROR(expand(entry, place, expanded_));
  TW_RETURN_IF_ERROR(rsp::walk_blocks(expanded_, register_block_bytes_, endian_,
                                      [&](const FrameBlock& block) { blocks_.push_back(block); }));
  Frame frame;
  frame.tracepoint = shape.tracepoint;
  frame.pc = pc_of(entry, place);
  frame.blocks = blocks_;
  if (shape.masked != 0) frame.registers_valid = shape.mask;
  return frame;
}

Result<std::optional<uint64_t>> TraceBuffer::find(const rsp::FrameSelect& select, uint64_t from,
                                                  const GoOn& go_on) {
  constexpr std::optional<uint64_t> kNone;
  if (select.kind == rsp::FrameSelect::Kind::Number) {
    if (select.number < from || select.number >= count()) return kNone;
    return std::optional<uint64_t>(select.number);
  }
  if (from >= count()) return kNone;
  Place place = place_of(begin_.number + from);
  uint64_t asked_at = place.at;
  for (; place.number < end_.number; step(place)) {
    if (go_on && place.at - asked_at >= kAskedBytes) {
      TW_RETURN_IF_ERROR(go_on(place.at - asked_at));
      asked_at = place.at;
    }
    const Entry entry = this->entry(place);
    const int64_t tracepoint = memory_.shape(entry.shape()).tracepoint;
    if (!matches(tracepoint, pc_of(entry, place), select)) continue;
    last_ = place;
    return std::optional(place.number - begin_.number);
  }
  return kNone;
}

Result<std::vector<uint8_t>> TraceBuffer::read_stream(uint64_t offset, size_t size) {
  seen_ = end_.number;
  std::vector<uint8_t> bytes;
  if (offset >= stream_bytes()) return bytes;
  size = std::min<uint64_t>(size, stream_bytes() - offset);
  const uint64_t begin = begin_.stream + offset;
  Place place = place_in_stream(begin);
  const size_t skip = begin - place.stream, end = skip + size;
  for (; place.number < end_.number && bytes.size() < end; step(place)) {
    const Entry entry = this->entry(place);
    const size_t head = bytes.size();
    bytes.resize(head + rsp::kFrameHeaderBytes);
    TW_RETURN_IF_ERROR(expand(entry, place, bytes));
    const int16_t tracepoint = memory_.shape(entry.shape()).tracepoint;
    store_uint(&bytes[head], static_cast<uint16_t>(tracepoint), 2, endian_);
    store_uint(&bytes[head + 2], bytes.size() - head - rsp::kFrameHeaderBytes, 4, endian_);
  }
  bytes.resize(std::min(bytes.size(), end));
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min(skip, bytes.size())));
  return bytes;
}

}  // namespace tracewell::agent
