#include "formats/tracebuffer/parts.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "ring/layout_1.h"

namespace tracewell::formats {

std::optional<uint32_t> tracebuffer_version(Bytes file) {
  if (file.size() < ring::kPage) return std::nullopt;
  uint32_t version = 0;
  std::memcpy(&version, file.data() + offsetof(ring::Header, version), sizeof version);
  return version;
}

Status TracebufferParts::take_parts(uint32_t version, size_t slot_bytes) {
  if (file_.size() < ring::kPage)
    return Error{Errc::Truncated, "the file ends inside its header", file_.size()};
  TW_RETURN_IF_ERROR(take_header(version, slot_bytes));
  take_text();
  return {};
}

Status TracebufferParts::take_header(uint32_t version, size_t slot_bytes) {
  std::memcpy(&header_, file_.data(), sizeof header_);
  if (header_.version != version)
    return Error{Errc::Unsupported,
                 fmt::format("a trace buffer of version {}, and this release reads {} and {}",
                             header_.version, ring::version_1::kVersion, ring::kVersion),
                 offsetof(ring::Header, version)};
  if (header_.slot_bytes != slot_bytes)
    return Error{Errc::Corrupt, "the size of its records is wrong",
                 offsetof(ring::Header, slot_bytes)};
  const auto outside = [](uint64_t offset, uint64_t size, uint64_t end) {
    return offset > end || size > end - offset;
  };
  // A part that the file does not reach was cut off, if the parts follow each other.
  const bool slots_fit = header_.table_slots != 0 &&
                         header_.table_slots <= kFileBytesMax / slot_bytes;
  const uint64_t slots_bytes = slots_fit ? header_.table_slots * slot_bytes : 0;
  const bool follow = !outside(header_.table_offset, slots_bytes, header_.data_offset) &&
                      !outside(header_.data_offset, header_.data_bytes, kFileBytesMax);
  const uint64_t end = follow ? kFileBytesMax : file_.size();
  if (!slots_fit || outside(header_.table_offset, slots_bytes, end))
    return Error{Errc::Corrupt, "its records lie outside of the file",
                 offsetof(ring::Header, table_offset)};
  if (outside(header_.data_offset, header_.data_bytes, end))
    return Error{Errc::Corrupt, "its frames lie outside of the file",
                 offsetof(ring::Header, data_offset)};
  const uint64_t data_end = header_.data_offset + header_.data_bytes;
  if (data_end > file_.size()) whole_bytes_ = data_end;
  data_there_ = file_.size() - std::min<uint64_t>(file_.size(), header_.data_offset);
  data_there_ = std::min(data_there_, header_.data_bytes);
  return {};
}

/// A writer that goes on writes over it once two others have come.
void TracebufferParts::take_text() {
  constexpr int kTries = 100;
  constexpr size_t kCopiedMax = 64 << 20;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t written = ring::load(live().texts_written);
    find_text();
    if (text_.size() > kCopiedMax) return;
    copied_text_ = std::make_shared<const std::vector<uint8_t>>(text_.begin(), text_.end());
    text_ = *copied_text_;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (ring::load(live().texts_written) == written) return;
  }
}

void TracebufferParts::find_text() {
  text_ = {};
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

size_t TracebufferParts::copy(uint64_t at, std::span<uint8_t> into) const {
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

}  // namespace tracewell::formats
