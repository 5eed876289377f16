#include "timeline/transfers.h"

namespace tracewell::timeline {

void TransferWriter::add(const Transfer& transfer) {
  uint8_t bytes[4 * kVarintMax];
  const bool other = transfer.thread != last_.thread;
  size_t size = put_varint(bytes, uint64_t{transfer.step - last_.step} << 2 | (other ? 2 : 0) |
                                      (transfer.is_return ? 1 : 0));
  if (other) size += put_varint(bytes + size, transfer.thread);
  size += put_varint(bytes + size, folded(transfer.to - last_.to));
  if (!transfer.is_return) size += put_varint(bytes + size, folded(transfer.back - transfer.to));
  out_.insert(out_.end(), bytes, bytes + size);
  last_ = transfer;
}

bool TransferReader::next(Transfer& transfer) {
  if (in_.at_end()) return false;
  const uint64_t head = in_.varint();
  const uint64_t step = last_.step + (head >> 2);
  const uint64_t thread = (head & 2) != 0 ? in_.varint() : last_.thread;
  if (step > UINT32_MAX || thread > UINT32_MAX) return false;
  transfer.step = static_cast<uint32_t>(step);
  transfer.thread = static_cast<uint32_t>(thread);
  transfer.is_return = (head & 1) != 0;
  transfer.to = last_.to + unfolded(in_.varint());
  transfer.back = transfer.is_return ? 0 : transfer.to + unfolded(in_.varint());
  last_ = transfer;
  return !in_.bad();
}

}  // namespace tracewell::timeline
