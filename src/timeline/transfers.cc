#include "timeline/transfers.h"

namespace tracewell::timeline {
namespace {

/// Small numbers of either sign become small numbers.
uint64_t folded(uint64_t distance) { return distance << 1 ^ (0 - (distance >> 63)); }
uint64_t unfolded(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

}  // namespace

void TransferWriter::add(const Transfer& transfer) {
  uint8_t bytes[4 * kVarintMax];
  size_t size = put_varint(bytes, transfer.step - last_.step);
  size += put_varint(bytes + size, uint64_t{transfer.thread} << 1 | (transfer.is_return ? 1 : 0));
  size += put_varint(bytes + size, folded(transfer.to - last_.to));
  if (!transfer.is_return) size += put_varint(bytes + size, folded(transfer.back - transfer.to));
  out_.insert(out_.end(), bytes, bytes + size);
  last_ = transfer;
}

bool TransferReader::next(Transfer& transfer) {
  if (in_.at_end()) return false;
  const uint64_t step = last_.step + in_.varint(), thread = in_.varint();
  if (step > UINT32_MAX || thread >> 1 > UINT32_MAX) return false;
  transfer.step = static_cast<uint32_t>(step);
  transfer.thread = static_cast<uint32_t>(thread >> 1);
  transfer.is_return = (thread & 1) != 0;
  transfer.to = last_.to + unfolded(in_.varint());
  transfer.back = transfer.is_return ? 0 : transfer.to + unfolded(in_.varint());
  last_ = transfer;
  return !in_.bad();
}

}  // namespace tracewell::timeline
