#include "timeline/index_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/murmur3.h"
#include "base/varint.h"

namespace tracewell::timeline {
namespace {

constexpr std::string_view kMagic = "TWTIDX2\n";
constexpr uint32_t kSeed = 0x74696478;
constexpr size_t kPlaceWords = 4 + kParts + 3, kNotesWords = 3;

uint64_t hash_of_head(Bytes trace) {
  return index_hash(trace.first(std::min(trace.size(), TraceIdentity::kProbe)));
}
uint64_t hash_of_tail(Bytes trace) {
  return index_hash(trace.last(std::min(trace.size(), TraceIdentity::kProbe)));
}

/// A part of the file; `at` moves behind it.
bool take(Bytes file, uint64_t& at, uint64_t size, Bytes& out) {
  if (at > file.size() || size > file.size() - at) return false;
  out = file.subspan(at, size);
  at += size;
  return true;
}

bool read_place(Cursor& in, Index& index, Segment& segment) {
  segment.first = in.uint(8);
  segment.count = in.uint(8);
  segment.session = in.uint(8);
  const uint64_t offset = in.uint(8);
  uint64_t at = offset;
  for (Bytes& part : segment.parts)
    if (!take(index.bytes, at, in.uint(8), part)) return false;
  const Bytes all = index.bytes.subspan(offset, at - offset);
  Bytes sums;
  if (!take(index.bytes, at, sums_size(all.size()), sums)) return false;
  segment.sums = std::make_shared<Sums>(all, sums, index.damaged);
  at = in.uint(8);
  if (!take(index.bytes, at, in.uint(8), segment.seams)) return false;
  return in.uint(8) == index_hash(segment.seams) && !in.bad() && segment.count > 0 &&
         segment.count < UINT32_MAX;
}

}  // namespace

uint64_t index_hash(Bytes bytes) { return murmur3_x64_128(bytes, kSeed)[0]; }

TraceIdentity TraceIdentity::of(Bytes trace, int64_t changed_ns) {
  return {trace.size(), changed_ns, hash_of_head(trace), hash_of_tail(trace)};
}

bool TraceIdentity::begins(Bytes trace) const {
  return trace.size() > size_bytes && size_bytes >= kProbe && hash_of_head(trace) == head_hash &&
         hash_of_tail(trace.first(size_bytes)) == tail_hash;
}

std::optional<Index> read_index(Bytes bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() < kIndexHeaderBytes || !as_text(bytes).starts_with(kMagic)) return std::nullopt;
  Cursor head(bytes.subspan(kMagic.size()));
  Index index;
  index.bytes = bytes;
  index.trace.size_bytes = head.uint(8);
  index.trace.changed_ns = static_cast<int64_t>(head.uint(8));
  index.trace.head_hash = head.uint(8);
  index.trace.tail_hash = head.uint(8);
  const uint64_t offset = head.uint(8), size = head.uint(8);
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  const Bytes directory = bytes.subspan(offset, size);
  const std::vector<uint8_t> header = make_header(index.trace, offset, directory);
  if (!std::equal(header.begin(), header.end(), bytes.begin())) return std::nullopt;
  Cursor in(directory);
  const uint64_t count = in.uint(8);
  if (in.left() < 8 * kNotesWords || count > (in.left() - 8 * kNotesWords) / (8 * kPlaceWords))
    return std::nullopt;
  for (uint64_t i = 0; i < count; ++i) {
    Segment segment;
    if (!read_place(in, index, segment) || segment.first != index.steps()) return std::nullopt;
    index.segments.push_back(segment);
  }
  const uint64_t notes_at = in.uint(8), notes_size = in.uint(8), notes_hash = in.uint(8);
  if (notes_at > bytes.size() || notes_size > bytes.size() - notes_at) return std::nullopt;
  index.notes = bytes.subspan(notes_at, notes_size);
  if (index_hash(index.notes) != notes_hash) return std::nullopt;
  index.owner = std::move(owner);
  return index;
}

std::vector<uint8_t> make_directory(const std::vector<SegmentPlace>& places, uint64_t notes_offset,
                                    Bytes notes) {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  writer.uint(places.size(), 8);
  for (const SegmentPlace& place : places) {
    for (uint64_t value : {place.first, place.count, place.session, place.offset})
      writer.uint(value, 8);
    for (uint64_t size : place.sizes) writer.uint(size, 8);
    for (uint64_t value : {place.seams_offset, place.seams_bytes, place.seams_hash})
      writer.uint(value, 8);
  }
  for (uint64_t value : {notes_offset, uint64_t{notes.size()}, index_hash(notes)})
    writer.uint(value, 8);
  return out;
}

std::vector<uint8_t> make_header(const TraceIdentity& trace, uint64_t offset, Bytes directory) {
  std::vector<uint8_t> out(kMagic.begin(), kMagic.end());
  ByteWriter writer(out, Endian::Little);
  for (uint64_t value : {trace.size_bytes, static_cast<uint64_t>(trace.changed_ns),
                         trace.head_hash, trace.tail_hash, offset, uint64_t{directory.size()}})
    writer.uint(value, 8);
  const auto of_header = murmur3_x64_128(out, kSeed);
  writer.uint(of_header[0] ^ index_hash(directory), 8);
  return out;
}

}  // namespace tracewell::timeline
