#include "formats/tracebuffer/frames.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "rsp/frames.h"

namespace tracewell::formats {

Result<TracebufferFrames> TracebufferFrames::open(Bytes file) {
  TracebufferFrames frames(file);
  TW_RETURN_IF_ERROR(frames.take_parts(ring::version_1::kVersion, sizeof(FrameRecord)));
  frames.take_numbers();
  return frames;
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
  too_many_ = next_ - first_ > header().table_slots;
  if (too_many_) first_ = next_ - header().table_slots;
}

uint64_t TracebufferFrames::record_offset(uint64_t number) const {
  return header().table_offset + number % header().table_slots * sizeof(FrameRecord);
}

bool TracebufferFrames::is_cut_off(uint64_t number, uint64_t& behind) const {
  if (record_offset(number) + sizeof(FrameRecord) <= file().size()) return false;
  // Those in the ring's end are; the next one stands at its begin.
  const uint64_t rest = header().table_slots - number % header().table_slots;
  behind = rest > next_ - number ? next_ : number + rest;
  return true;
}

std::optional<TracebufferFrames::FrameRecord> TracebufferFrames::record(uint64_t number) const {
  FrameRecord record;
  if (uint64_t behind; is_cut_off(number, behind)) return std::nullopt;
  std::memcpy(&record, file().data() + record_offset(number), sizeof record);
  if (record.check != static_cast<uint32_t>(number) || record.tracepoint == 0) return std::nullopt;
  if (header().data_bytes < rsp::kFrameHeaderBytes ||
      record.size > header().data_bytes - rsp::kFrameHeaderBytes)
    return std::nullopt;
  uint8_t head[rsp::kFrameHeaderBytes];
  if (copy(record.at, head) < sizeof head) return record;
  if (static_cast<int16_t>(load_uint(head, 2, endian())) != record.tracepoint ||
      load_uint(head + 2, 4, endian()) != record.size)
    return std::nullopt;
  return record;
}

void TracebufferFrames::data(const FrameRecord& record, std::vector<uint8_t>& into) const {
  into.resize(std::min<uint64_t>(record.size, data_there()));
  into.resize(copy(record.at + rsp::kFrameHeaderBytes, into));
}

bool TracebufferFrames::overwritten(uint64_t number) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return number < ring::load(live().first);
}

}  // namespace tracewell::formats
