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

}  // namespace

std::optional<RecordBlock> RecordBlocks::next() {
  if (rest_.empty() || bad_) return std::nullopt;
  Front in(rest_);
  const auto block = read_block(in);
  bad_ = !block;
  if (block) rest_ = rest_.subspan(in.offset());
  return block;
}

}  // namespace tracewell::fast
