#include "formats/tracebuffer/entries.h"

#include <algorithm>
#include <cstring>

namespace tracewell::formats {

Result<TracebufferEntries> TracebufferEntries::open(Bytes file) {
  constexpr int kTries = 100;
  TracebufferEntries entries(file);
  for (int i = 0; i < kTries; ++i) {
    TW_RETURN_IF_ERROR(entries.take_parts(ring::kVersion, sizeof(ring::FrameShape)));
    entries.take_numbers();
    // Else its parts may be of two runs.
    if (ring::load(entries.live().texts_written) == entries.header().texts_written) break;
  }
  return entries;
}

// `end` before `begin`: what lies between them was in the buffer at one time. A writer that goes on
// can only make this miss the newest frames, and those that it drops. Where it filled the whole
// buffer meanwhile, both are read again.
void TracebufferEntries::take_numbers() {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    end_ = ring::load(live().end);
    begin_ = ring::load(live().begin);
    if (begin_ <= end_ || begin_ == UINT64_MAX) break;
  }
  if (begin_ > end_) begin_ = end_ = 0;  // all are being dropped
  too_many_ = end_ - begin_ > header().data_bytes;
  if (too_many_) begin_ = end_ - header().data_bytes;
  const uint64_t there = file().size() - std::min<uint64_t>(file().size(), header().table_offset);
  shapes_ = std::min({ring::load(live().shapes), header().table_slots,
                      there / sizeof(ring::FrameShape)});
}

uint64_t TracebufferEntries::offset_of(uint64_t at) const {
  return header().data_offset + (header().data_bytes != 0 ? at % header().data_bytes : 0);
}

std::optional<TracebufferEntries::Entry> TracebufferEntries::entry(uint64_t at) const {
  Entry out;
  ring::FrameEntry& head = out;
  const uint64_t room = end_ - at;
  if (room < sizeof head) return std::nullopt;
  if (copy(at, {reinterpret_cast<uint8_t*>(&head), sizeof head}) < sizeof head) return std::nullopt;
  out.head_bytes = sizeof head + ((head.what & head.kOwnPc) != 0 ? sizeof out.pc : 0);
  if (head.bytes % 4 != 0 || head.bytes > room || head.bytes < out.head_bytes + head.fill() ||
      head.shape() >= shapes_)
    return std::nullopt;
  std::memcpy(&out.shape,
              file().data() + header().table_offset + head.shape() * sizeof out.shape,
              sizeof out.shape);
  if (out.shape.tracepoint == 0) return std::nullopt;
  out.pc = out.shape.pc;
  if ((head.what & head.kOwnPc) != 0 &&
      copy(at + sizeof head, {reinterpret_cast<uint8_t*>(&out.pc), sizeof out.pc}) < sizeof out.pc)
    return std::nullopt;
  return out;
}

void TracebufferEntries::blocks(const Entry& entry, uint64_t at, std::vector<uint8_t>& into) const {
  const uint64_t size = entry.bytes - entry.head_bytes - entry.fill();
  into.resize(std::min(size, data_there()));
  into.resize(copy(at + entry.head_bytes, into));
}

uint64_t TracebufferEntries::behind_cut(uint64_t at) const {
  const uint64_t size = header().data_bytes;
  if (size == 0 || at % size < data_there()) return at;
  return std::min(end_, at + (size - at % size));
}

bool TracebufferEntries::overwritten(uint64_t at) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return at < ring::load(live().begin);
}

}  // namespace tracewell::formats
