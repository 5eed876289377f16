#include "timeline/index/index_file.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/murmur3.h"
#include "base/varint.h"

namespace tracewell::timeline {
namespace {

constexpr std::string_view kMagic = "TWTIDXA\n";
constexpr uint32_t kSeed = 0x74696478;
constexpr size_t kIdentityBytes = 9 * 8;
constexpr size_t kPlaceBytesMin = 3 + kParts + 4;

uint64_t hash_of_head(Bytes trace) {
  return index_hash(trace.first(std::min(trace.size(), TraceIdentity::kProbe)));
}
uint64_t hash_of_tail(Bytes trace) {
  return index_hash(trace.last(std::min(trace.size(), TraceIdentity::kProbe)));
}

/// What must not be looked at before it is known that no two parts lie in the same bytes: a few of
/// these would be hashed, and copied, as often as somebody says.
struct Claims {
  std::vector<Bytes> parts;
  std::vector<std::pair<Bytes, uint64_t>> hashed;  // and their hash

  bool take(Bytes file, uint64_t& at, uint64_t size, Bytes& out) {
    if (at > file.size() || size > file.size() - at) return false;
    out = file.subspan(at, size);
    at += size;
    if (size != 0) parts.push_back(out);
    return true;
  }
  bool hold() {
    std::ranges::sort(parts, {}, &Bytes::data);
    for (size_t i = 1; i < parts.size(); ++i)
      if (parts[i].data() < parts[i - 1].data() + parts[i - 1].size()) return false;
    return std::ranges::all_of(
        hashed, [](const auto& one) { return index_hash(one.first) == one.second; });
  }
};

/// `behind`: where the segment before it ends in the file.
bool read_place(Cursor& in, Index& index, uint64_t& behind, Claims& claims, Segment& segment) {
  const bool is_first = index.segments.empty();
  segment.first = index.steps();
  segment.count = in.varint();
  segment.session = in.varint() + (is_first ? 0 : index.segments.back().session);
  const uint64_t offset = behind + unfolded(in.varint());
  behind = offset;
  const auto take = [&](uint64_t& at, uint64_t size, Bytes& out) {
    return claims.take(index.bytes, at, size, out);
  };
  for (Bytes& part : segment.parts)
    if (!take(behind, in.varint(), part)) return false;
  const Bytes all = index.bytes.subspan(offset, behind - offset);
  Bytes sums;
  if (!take(behind, sums_size(all.size()), sums)) return false;
  segment.sums = std::make_shared<Sums>(all, sums, index.damaged);
  const uint64_t left_out = in.varint();
  if (left_out >> kParts != 0) return false;
  segment.left_out = static_cast<uint8_t>(left_out);
  segment.wanted = index.wanted;
  segment.loss_end = in.varint();
  segment.opened = in.varint() != 0;
  if (const uint64_t size = in.varint(); size != 0) {
    uint64_t at = in.varint();
    if (!take(at, size, segment.seams)) return false;
    claims.hashed.emplace_back(segment.seams, in.varint());
  }
  if (const uint64_t size = in.varint(); size != 0) {
    uint64_t at = in.varint();
    if (!take(at, size, segment.call_marks)) return false;
    if (!take(at, sums_size(size), sums)) return false;
    segment.call_sums = std::make_shared<Sums>(segment.call_marks, sums, index.damaged);
  }
  return !in.bad() && segment.count > 0 && segment.count < UINT32_MAX &&
         segment.loss_end <= segment.count + 1;
}

}  // namespace

uint64_t index_hash(Bytes bytes) { return murmur3_x64_128(bytes, kSeed)[0]; }

TraceIdentity TraceIdentity::of(Bytes trace, int64_t changed_ns, const FileFacts& file) {
  return {trace.size(), changed_ns,  hash_of_head(trace), hash_of_tail(trace),
          file.device,  file.inode, file.born_ns,       0,  // an index in memory is nobody's file
          0};
}

bool TraceIdentity::begins(Bytes trace) const {
  return trace.size() > size_bytes && size_bytes >= kProbe && hash_of_head(trace) == head_hash &&
         hash_of_tail(trace.first(size_bytes)) == tail_hash;
}

std::optional<TraceIdentity> read_index_identity(Bytes bytes) {
  if (bytes.size() < kIndexHeaderBytes || !as_text(bytes).starts_with(kMagic)) return std::nullopt;
  Cursor head(bytes.subspan(kMagic.size()));
  TraceIdentity out;
  out.size_bytes = head.uint(8);
  out.changed_ns = static_cast<int64_t>(head.uint(8));
  out.head_hash = head.uint(8);
  out.tail_hash = head.uint(8);
  out.device = head.uint(8);
  out.inode = head.uint(8);
  out.born_ns = static_cast<int64_t>(head.uint(8));
  out.own_inode = head.uint(8);
  out.own_born_ns = static_cast<int64_t>(head.uint(8));
  return out;
}

std::optional<Index> read_index(Bytes bytes, std::shared_ptr<const void> owner) {
  const auto trace = read_index_identity(bytes);
  if (!trace) return std::nullopt;
  Index index;
  index.bytes = bytes;
  index.trace = *trace;
  Cursor head(bytes.subspan(kMagic.size() + kIdentityBytes));
  const uint64_t offset = head.uint(8), size = head.uint(8);
  Claims claims;
  Bytes directory;
  uint64_t directory_end = offset;
  if (!claims.take(bytes, directory_end, size, directory)) return std::nullopt;
  const std::vector<uint8_t> header = make_header(index.trace, offset, directory);
  if (!std::equal(header.begin(), header.end(), bytes.begin())) return std::nullopt;
  Cursor in(directory);
  const uint64_t count = in.varint();
  if (count > in.left() / kPlaceBytesMin) return std::nullopt;
  uint64_t behind = kIndexHeaderBytes;
  for (uint64_t i = 0; i < count; ++i) {
    Segment segment;
    if (!read_place(in, index, behind, claims, segment)) return std::nullopt;
    index.segments.push_back(segment);
  }
  uint64_t notes_at = in.varint();
  if (!claims.take(bytes, notes_at, in.varint(), index.notes)) return std::nullopt;
  claims.hashed.emplace_back(index.notes, in.varint());
  if (in.bad() || !claims.hold()) return std::nullopt;
  index.owner = std::move(owner);
  return index;
}

std::vector<uint8_t> make_directory(const std::vector<SegmentPlace>& places, uint64_t notes_offset,
                                    Bytes notes) {
  std::vector<uint8_t> out;
  const auto put = [&](uint64_t value) {
    uint8_t bytes[kVarintMax];
    out.insert(out.end(), bytes, bytes + put_varint(bytes, value));
  };
  put(places.size());
  uint64_t behind = kIndexHeaderBytes, session = 0;
  for (const SegmentPlace& place : places) {
    put(place.count);
    put(place.session - session);
    put(folded(place.offset - behind));
    session = place.session;
    const uint64_t size = std::accumulate(place.sizes.begin(), place.sizes.end(), uint64_t{0});
    behind = place.offset + size + sums_size(size);
    for (uint64_t one : place.sizes) put(one);
    put(place.left_out);
    put(place.loss_end);
    put(place.opened ? 1 : 0);
    put(place.seams_bytes);
    if (place.seams_bytes != 0) {
      put(place.seams_offset);
      put(place.seams_hash);
    }
    put(place.marks_bytes);
    if (place.marks_bytes != 0) put(place.marks_offset);
  }
  for (uint64_t value : {notes_offset, uint64_t{notes.size()}, index_hash(notes)}) put(value);
  return out;
}

std::vector<uint8_t> make_header(const TraceIdentity& trace, uint64_t offset, Bytes directory) {
  std::vector<uint8_t> out(kMagic.begin(), kMagic.end());
  ByteWriter writer(out, Endian::Little);
  for (uint64_t value : {trace.size_bytes, static_cast<uint64_t>(trace.changed_ns),
                         trace.head_hash, trace.tail_hash, trace.device, trace.inode,
                         static_cast<uint64_t>(trace.born_ns), trace.own_inode,
                         static_cast<uint64_t>(trace.own_born_ns), offset,
                         uint64_t{directory.size()}})
    writer.uint(value, 8);
  const auto of_header = murmur3_x64_128(out, kSeed);
  writer.uint(of_header[0] ^ index_hash(directory), 8);
  return out;
}

}  // namespace tracewell::timeline
