#include "formats/tracebuffer_frames.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::formats {

namespace {

// Longer than any file, so that sums of what a header says stay far from 2^64.
constexpr uint64_t kFileBytesMax = uint64_t{1} << 60;

}  // namespace

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
  if (header_.version != ring::kVersion)
    return Error{Errc::Unsupported, "a trace buffer of a version that is not known",
                 offsetof(ring::Header, version)};
  if (header_.record_bytes != sizeof(ring::FrameRecord))
    return Error{Errc::Corrupt, "the size of its records is wrong",
                 offsetof(ring::Header, record_bytes)};
  const auto outside = [](uint64_t offset, uint64_t size, uint64_t end) {
    return offset > end || size > end - offset;
  };
  // A part that the file does not reach was cut off, if the parts follow each other.
  const bool slots_fit = header_.record_slots != 0 &&
                         header_.record_slots <= kFileBytesMax / sizeof(ring::FrameRecord);
  const uint64_t slots_bytes = slots_fit ? header_.record_slots * sizeof(ring::FrameRecord) : 0;
  const bool follow = !outside(header_.records_offset, slots_bytes, header_.data_offset) &&
                      !outside(header_.data_offset, header_.data_bytes, kFileBytesMax);
  const uint64_t end = follow ? kFileBytesMax : file_.size();
  if (!slots_fit || outside(header_.records_offset, slots_bytes, end))
    return Error{Errc::Corrupt, "its records lie outside of the file",
                 offsetof(ring::Header, records_offset)};
  if (outside(header_.data_offset, header_.data_bytes, end))
    return Error{Errc::Corrupt, "its frames lie outside of the file",
                 offsetof(ring::Header, data_offset)};
  const uint64_t data_end = header_.data_offset + header_.data_bytes;
  if (data_end > file_.size()) whole_bytes_ = data_end;
  data_there_ = file_.size() - std::min<uint64_t>(file_.size(), header_.data_offset);
  data_there_ = std::min(data_there_, header_.data_bytes);
  return {};
}

void TracebufferFrames::take_text() {
  const uint32_t current = ring::load(live().text_current);
  if (current > 1) return;
  ring::Text text;
  std::memcpy(&text, &live().texts[current], sizeof text);
  const uint64_t behind_data = header_.data_offset + header_.data_bytes;
  const bool is_cut = text.offset >= behind_data && text.offset <= kFileBytesMax &&
                      text.size <= text.room && text.size <= kFileBytesMax - text.offset &&
                      text.offset + text.size > file_.size();
  if (is_cut) whole_bytes_ = text.offset + text.size;
  if (text.offset > file_.size()) return;
  const uint64_t there = file_.size() - text.offset;
  if (text.size > there && !is_cut) return;
  text_ = file_.subspan(text.offset, std::min(text.size, there));
  text_offset_ = text.offset;
}

// `next` before `first`: what lies between them was in the buffer at one time, and so fits there.
// A writer that goes on can only make this miss the newest frames, and those that it drops. Where
// it filled the whole buffer meanwhile, both are read again.
void TracebufferFrames::take_numbers() {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    next_ = ring::load(live().next);
    first_ = ring::load(live().first);
    if (first_ <= next_ || first_ == UINT64_MAX) break;
  }
  if (first_ > next_) first_ = next_ = 0;  // all are being dropped
  too_many_ = next_ - first_ > header_.record_slots;
  if (too_many_) first_ = next_ - header_.record_slots;
}

uint64_t TracebufferFrames::record_offset(uint64_t number) const {
  return header_.records_offset + number % header_.record_slots * sizeof(ring::FrameRecord);
}

bool TracebufferFrames::is_cut_off(uint64_t number, uint64_t& behind) const {
  if (record_offset(number) + sizeof(ring::FrameRecord) <= file_.size()) return false;
  // Those in the ring's end are; the next one stands at its begin.
  const uint64_t rest = header_.record_slots - number % header_.record_slots;
  behind = rest > next_ - number ? next_ : number + rest;
  return true;
}

std::optional<ring::FrameRecord> TracebufferFrames::record(uint64_t number) const {
  ring::FrameRecord record;
  if (uint64_t behind; is_cut_off(number, behind)) return std::nullopt;
  std::memcpy(&record, file_.data() + record_offset(number), sizeof record);
  if (record.check != static_cast<uint32_t>(number) || record.tracepoint == 0) return std::nullopt;
  if (header_.data_bytes < rsp::kFrameHeaderBytes ||
      record.size > header_.data_bytes - rsp::kFrameHeaderBytes)
    return std::nullopt;
  uint8_t head[rsp::kFrameHeaderBytes];
  if (copy(record.at, head) < sizeof head) return record;
  if (static_cast<int16_t>(load_uint(head, 2, endian())) != record.tracepoint ||
      load_uint(head + 2, 4, endian()) != record.size)
    return std::nullopt;
  return record;
}

void TracebufferFrames::data(const ring::FrameRecord& record, std::vector<uint8_t>& into) const {
  into.resize(std::min<uint64_t>(record.size, data_there_));
  into.resize(copy(record.at + rsp::kFrameHeaderBytes, into));
}

/// As much as there is in front of where the file was cut. `into` is not longer than the ring.
size_t TracebufferFrames::copy(uint64_t at, std::span<uint8_t> into) const {
  if (into.empty() || data_there_ == 0) return 0;
  const uint64_t offset = at % header_.data_bytes;
  const size_t first = std::min<uint64_t>(into.size(), header_.data_bytes - offset);
  const uint64_t there = data_there_ - std::min(data_there_, offset);
  const uint8_t* data = file_.data() + header_.data_offset;
  std::memcpy(into.data(), data + offset, std::min<uint64_t>(first, there));
  if (there < first) return there;
  const size_t rest = std::min<uint64_t>(into.size() - first, data_there_);
  std::memcpy(into.data() + first, data, rest);
  return first + rest;
}

bool TracebufferFrames::overwritten(uint64_t number) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return number < ring::load(live().first);
}

}  // namespace tracewell::formats
