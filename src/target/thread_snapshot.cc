#include "target/thread_snapshot.h"

#include <utility>

namespace tracewell::target {

Result<RegisterState> ThreadSnapshot::registers() {
  RegisterState out;
  out.reset(layout());
  TW_RETURN_IF_ERROR(target_.read_registers(tid_, out.block));
  std::vector<uint8_t> known = target_.known_registers(tid_);
  if (known.empty()) known.assign(out.valid.size(), 0xff);
  TW_CHECK(known.size() == out.valid.size());
  out.valid = std::move(known);
  return out;
}

Status ThreadSnapshot::read_memory(uint64_t address, std::span<uint8_t> bytes,
                                   std::span<ByteState> states) {
  target_.read_known_memory(pid_, address, bytes, states);
  return {};
}

}  // namespace tracewell::target
