#include "fast/record.h"

#include <cstring>

namespace tracewell::fast {
namespace {

/// Bytes from the front, where there are so many; else none, and ok() is false from then on.
class Front {
 public:
  explicit Front(Bytes bytes) : in_(bytes, Endian::Little) {}
  uint64_t uint(size_t size) { return checked(in_.uint(size)); }
  Bytes bytes(size_t size) { return checked(in_.take(size)); }
  bool ok() const { return ok_; }
  size_t offset() const { return in_.offset(); }

 private:
  template <class Value>
  Value checked(const std::optional<Value>& value) {
    ok_ = ok_ && value;
    return value.value_or(Value{});
  }
  ByteReader in_;
  bool ok_ = true;
};

std::optional<RecordBlock> read_block(Front& in) {
  RecordBlock block;
  const uint64_t kind = in.uint(1);
  switch (kind) {
    case 'G': {
      block.kind = RecordBlock::Kind::General;
      const Bytes bytes = in.bytes(sizeof block.general);
      if (in.ok()) std::memcpy(&block.general, bytes.data(), sizeof block.general);
      break;
    }
    case 'X': {
      block.kind = RecordBlock::Kind::Vector;
      const uint64_t skip = in.uint(1), size = in.uint(4);
      in.bytes(skip);
      block.bytes = in.bytes(size);
      break;
    }
    case 'D': {
      block.kind = RecordBlock::Kind::VectorChange;
      const Bytes bytes = in.bytes(sizeof block.change);
      if (in.ok()) std::memcpy(&block.change, bytes.data(), sizeof block.change);
      block.bytes = in.bytes(block.change.bytes);
      break;
    }
    case 'M':
      block.address = in.uint(8);
      block.bytes = in.bytes(in.uint(2));
      break;
    case 'V':
      block.kind = RecordBlock::Kind::Variable;
      block.number = static_cast<uint32_t>(in.uint(4));
      block.value = static_cast<int64_t>(in.uint(8));
      break;
    case 'C':
    case 'E':
      block.condition = kind == 'C';
      block.kind = RecordBlock::Kind::Fault;
      block.number = static_cast<uint32_t>(in.uint(1));
      block.address = in.uint(8);
      break;
    default: return std::nullopt;
  }
  return in.ok() ? std::optional(block) : std::nullopt;
}

/// Most of what is collected has the size of a variable: to call memcpy() takes longer than that.
void copy_short(uint8_t* into, const uint8_t* from, size_t bytes) {
  if (bytes == sizeof(uint64_t)) std::memcpy(into, from, sizeof(uint64_t));
  else if (bytes == sizeof(uint32_t)) std::memcpy(into, from, sizeof(uint32_t));
  else std::memcpy(into, from, bytes);
}

}  // namespace

/// A block's head is loaded once, and stored from there.
bool copy_plain(Bytes blocks, UnchangedPages& pages, std::span<uint8_t> into) {
  constexpr size_t kMemoryHead = 11, kVariable = 13;
  const uint8_t* at = blocks.data();
  uint8_t* out = into.data();
  for (size_t left = blocks.size(); left != 0;) {
    const uint8_t kind = *at;
    size_t bytes = kVariable, head = 1;
    if (kind == 'M' && left >= kMemoryHead) {
      uint64_t address = 0;
      uint16_t size = 0;
      std::memcpy(&address, at + 1, sizeof address);
      std::memcpy(&size, at + 9, sizeof size);
      if (!pages.hold(address, size)) return false;
      head = kMemoryHead;
      bytes = kMemoryHead + size;
      if (bytes > left) return false;
      std::memcpy(out + 1, &address, sizeof address);
      std::memcpy(out + 9, &size, sizeof size);
    } else if (kind != 'V' || bytes > left) {
      return false;
    }
    *out = kind;
    copy_short(out + head, at + head, bytes - head);
    at += bytes;
    out += bytes;
    left -= bytes;
  }
  return true;
}

std::optional<RecordBlock> RecordBlocks::next() {
  if (rest_.empty() || bad_) return std::nullopt;
  Front in(rest_);
  const auto block = read_block(in);
  bad_ = !block;
  if (block) rest_ = rest_.subspan(in.offset());
  return block;
}

}  // namespace tracewell::fast
