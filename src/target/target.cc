#include "target/target.h"

#include <algorithm>

namespace tracewell::target {

std::vector<uint8_t> Target::known_registers(Tid /*tid*/) { return {}; }

// What cannot be read is whole pages.
void Target::read_known_memory(Pid pid, uint64_t address, std::span<uint8_t> bytes,
                               std::span<ByteState> states) {
  constexpr uint64_t kPage = 4096;
  std::ranges::fill(bytes, uint8_t{0});
  std::ranges::fill(states, ByteState::Unknown);
  for (size_t at = 0; at < bytes.size() && address + at >= address;) {
    const size_t got = read_memory(pid, address + at, bytes.subspan(at));
    std::ranges::fill(states.subspan(at, got), ByteState::Told);
    at += got;
    at += kPage - (address + at) % kPage;
  }
}

}  // namespace tracewell::target
