#include "formats/tracebuffer_frames.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::formats {

Result<TracebufferFrames> TracebufferFrames::open(Bytes file) {
  if (file.size() < ring::kPage)
    return Error{Errc::Truncated, "the file ends inside its header", file.size()};
  TracebufferFrames frames(file);
  TW_RETURN_IF_ERROR(frames.take_header());
  frames.take_text();
  frames.take_numbers();
  return frames;
}

Status TracebufferFrames::take_header() {
  std::memcpy(&header_, file_.data(), sizeof header_);
  const auto outside = [&](uint64_t offset, uint64_t size) {
    return offset > file_.size() || size > file_.size() - offset;
  };
  if (header_.version != ring::kVersion)
    return Error{Errc::Unsupported, "a trace buffer of a version that is not known",
                 offsetof(ring::Header, version)};
  if (header_.record_bytes != sizeof(ring::FrameRecord))
    return Error{Errc::Corrupt, "the size of its records is wrong",
                 offsetof(ring::Header, record_bytes)};
  if (header_.record_slots == 0 ||
      header_.record_slots > file_.size() / sizeof(ring::FrameRecord) ||
      outside(header_.records_offset, header_.record_slots * sizeof(ring::FrameRecord)))
    return Error{Errc::Corrupt, "its records lie outside of the file",
                 offsetof(ring::Header, records_offset)};
  if (outside(header_.data_offset, header_.data_bytes))
    return Error{Errc::Corrupt, "its frames lie outside of the file",
                 offsetof(ring::Header, data_offset)};
  return {};
}

void TracebufferFrames::take_text() {
  const uint32_t current = ring::load(live().text_current);
  if (current > 1) return;
  ring::Text text;
  std::memcpy(&text, &live().texts[current], sizeof text);
  if (text.offset > file_.size() || text.size > file_.size() - text.offset) return;
  text_ = file_.subspan(text.offset, text.size);
  text_offset_ = text.offset;
}

// `first` before `next`: a writer that goes on can only make this miss the newest frames.
void TracebufferFrames::take_numbers() {
  first_ = ring::load(live().first);
  next_ = std::max(ring::load(live().next), first_);
  if (first_ == UINT64_MAX) first_ = next_ = 0;  // all are being dropped
  if (ring::load(live().next) < first_) first_ = next_ = 0;
  too_many_ = next_ - first_ > header_.record_slots;
  if (too_many_) first_ = next_ - header_.record_slots;
}

uint64_t TracebufferFrames::record_offset(uint64_t number) const {
  return header_.records_offset + number % header_.record_slots * sizeof(ring::FrameRecord);
}

std::optional<ring::FrameRecord> TracebufferFrames::record(uint64_t number) const {
  ring::FrameRecord record;
  std::memcpy(&record, file_.data() + record_offset(number), sizeof record);
  if (record.check != static_cast<uint32_t>(number) || record.tracepoint == 0) return std::nullopt;
  if (header_.data_bytes < rsp::kFrameHeaderBytes ||
      record.size > header_.data_bytes - rsp::kFrameHeaderBytes)
    return std::nullopt;
  uint8_t head[rsp::kFrameHeaderBytes];
  copy(record.at, head);
  if (static_cast<int16_t>(load_uint(head, 2, endian())) != record.tracepoint ||
      load_uint(head + 2, 4, endian()) != record.size)
    return std::nullopt;
  return record;
}

void TracebufferFrames::data(const ring::FrameRecord& record, std::vector<uint8_t>& into) const {
  into.resize(record.size);
  copy(record.at + rsp::kFrameHeaderBytes, into);
}

/// `into` is not longer than the ring.
void TracebufferFrames::copy(uint64_t at, std::span<uint8_t> into) const {
  if (into.empty()) return;
  const uint64_t offset = at % header_.data_bytes;
  const size_t first = std::min<uint64_t>(into.size(), header_.data_bytes - offset);
  const uint8_t* data = file_.data() + header_.data_offset;
  std::memcpy(into.data(), data + offset, first);
  std::memcpy(into.data() + first, data, into.size() - first);
}

bool TracebufferFrames::overwritten(uint64_t number) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return number < ring::load(live().first);
}

}  // namespace tracewell::formats
