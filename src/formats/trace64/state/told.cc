// The data: u8 bit 0: the accesses are incomplete · for each access: u8 bits 0-1 its kind, bit 2
// its old content is known, bit 3 its new one, bit 4 an address follows, bit 5 an entry's number
// follows · varint size · the address (a word), or the number (u8). Contents stand in the entries,
// behind those of the access before, or from the entry with that number on.
#include "formats/trace64/state/told.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/varint.h"

namespace tracewell::formats::trace64 {
namespace {

using Access = Step::MemoryAccess;

constexpr uint8_t kKindBits = 3, kOldKnown = 4, kNewKnown = 8, kApart = 16, kJumps = 32;
constexpr uint8_t kIncomplete = 1;

/// A block's entries as the bytes that they are.
class EntryBytes {
 public:
  EntryBytes(const Shape& shape, const MemoryEntries& entries)
      : shape_(shape), entries_(entries), size_(entries.count * shape.word) {}

  uint32_t size() const { return size_; }
  /// Of a byte by its number.
  uint64_t address(uint32_t at) const {
    return cut(entries_.address[at / shape_.word] + at % shape_.word);
  }
  uint8_t old_byte(uint32_t at) const { return byte(entries_.old_word, at); }
  uint8_t new_byte(uint32_t at) const { return byte(entries_.new_word, at); }
  /// Does the access, with its contents, stand there?
  bool holds(uint32_t at, const Access& access) const {
    if (access.size > size_ || at > size_ - access.size) return false;
    for (uint32_t i = 0; i < access.size; ++i) {
      if (address(at + i) != cut(access.address + i)) return false;
      if (!access.old_bytes.empty() && access.old_bytes[i] != old_byte(at + i)) return false;
      if (!access.new_bytes.empty() && access.new_bytes[i] != new_byte(at + i)) return false;
    }
    return true;
  }

 private:
  uint64_t cut(uint64_t address) const { return shape_.wide ? address : address & UINT32_MAX; }
  uint8_t byte(const std::array<uint64_t, kMemoryMax>& words, uint32_t at) const {
    return static_cast<uint8_t>(words[at / shape_.word] >> (8 * (at % shape_.word)));
  }
  const Shape& shape_;
  const MemoryEntries& entries_;
  uint32_t size_;
};

/// Where the access stands: behind the last one, or at the beginning of an entry.
std::optional<uint32_t> find_access(const Shape& shape, const EntryBytes& bytes, uint32_t behind,
                                    const Access& access) {
  if (bytes.holds(behind, access)) return behind;
  const uint32_t next = (behind + shape.word - 1) / shape.word * shape.word;
  for (uint32_t at = next; at < bytes.size(); at += shape.word)
    if (bytes.holds(at, access)) return at;
  for (uint32_t at = 0; at < std::min(next, bytes.size()); at += shape.word)
    if (bytes.holds(at, access)) return at;
  return std::nullopt;
}

}  // namespace

uint32_t render_told(const Shape& shape, const MemoryEntries& entries,
                     std::span<const Access> accesses, bool incomplete,
                     std::vector<uint8_t>& data) {
  const EntryBytes bytes(shape, entries);
  data.assign(1, incomplete ? kIncomplete : 0);
  ByteWriter writer(data, Endian::Little);
  uint32_t behind = 0, lost = 0;
  for (const Access& one : accesses) {
    auto head = static_cast<uint8_t>(one.kind);
    const bool known = !one.old_bytes.empty() || !one.new_bytes.empty();
    const auto at = known ? find_access(shape, bytes, behind, one) : std::nullopt;
    if (!at) {
      lost += known;
      writer.uint(head | kApart, 1);
      append_varint(data, one.size);
      writer.uint(one.address, shape.word);
      continue;
    }
    if (!one.old_bytes.empty()) head |= kOldKnown;
    if (!one.new_bytes.empty()) head |= kNewKnown;
    if (*at != behind) head |= kJumps;
    writer.uint(head, 1);
    append_varint(data, one.size);
    if (*at != behind) writer.uint(*at / shape.word, 1);
    behind = *at + one.size;
  }
  return lost;
}

bool read_told(const Shape& shape, const Block& block, Bytes data, Batch& batch,
               ToldAccesses& out) {
  MemoryEntries entries;
  if (data.empty() || !entries.parse(shape, block.memory_count, block.memory_bytes(shape)))
    return false;
  const EntryBytes bytes(shape, entries);
  Cursor in(data);
  out.incomplete = (in.byte() & kIncomplete) != 0;
  out.accesses.clear();
  std::array<uint8_t, kMemoryMax * 8> fresh;
  uint64_t at = 0;
  while (!in.at_end()) {
    const uint8_t head = in.byte();
    const uint64_t size = in.varint();
    Access one;
    one.kind = static_cast<Access::Kind>(head & kKindBits);
    one.size = static_cast<uint32_t>(size);
    if (size > UINT32_MAX) return false;
    if ((head & kApart) != 0) {
      one.address = in.uint(shape.word);
      if (in.bad()) return false;
      out.accesses.push_back(one);
      continue;
    }
    if ((head & kJumps) != 0) at = uint64_t{in.byte()} * shape.word;
    if (in.bad() || size == 0 || at >= bytes.size() || size > bytes.size() - at) return false;
    const auto from = static_cast<uint32_t>(at);
    one.address = bytes.address(from);
    if (!bytes.holds(from, one)) return false;  // not in a row
    if ((head & kOldKnown) != 0) one.old_bytes = {block.old_words + from, one.size};
    for (uint32_t i = 0; i < one.size; ++i) fresh[i] = bytes.new_byte(from + i);
    if ((head & kNewKnown) != 0) one.new_bytes = batch.copy(Bytes(fresh.data(), one.size));
    out.accesses.push_back(one);
    at += size;
  }
  return true;
}

bool same_accesses(std::span<const Access> a, std::span<const Access> b) {
  const auto same = [](const Access& x, const Access& y) {
    return x.address == y.address && x.kind == y.kind && x.size == y.size &&
           std::ranges::equal(x.old_bytes, y.old_bytes) &&
           std::ranges::equal(x.new_bytes, y.new_bytes);
  };
  return std::ranges::equal(a, b, same);
}

}  // namespace tracewell::formats::trace64
