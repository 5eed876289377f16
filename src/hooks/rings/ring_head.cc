#include "hooks/rings/ring_head.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ring/hook_packet.h"

namespace tracewell::hooks {

std::optional<tracewell_ring> ring_head(Bytes bytes) {
  tracewell_ring head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const bool sound = ring::is_known_ring(head) && head.slots >= 1 &&
                     head.slots <= TRACEWELL_RING_SLOTS_MAX &&
                     head.packet_bytes >= TRACEWELL_PACKET_BYTES_MIN &&
                     head.packet_bytes <= TRACEWELL_PACKET_BYTES_MAX &&
                     head.packet_bytes % TRACEWELL_HOOK_PAGE == 0;
  return sound ? std::optional(head) : std::nullopt;
}

uint64_t ring_bytes(const tracewell_ring& head) {
  return TRACEWELL_HOOK_PAGE + uint64_t{head.slots} * head.packet_bytes;
}

Uuid ring_uuid(const tracewell_ring& head) {
  Uuid out;
  std::copy_n(head.uuid, out.size(), out.begin());
  return out;
}

std::string ring_name(const tracewell_ring& head) {
  return fmt::format("{}-{}", head.pid, head.number);
}

}  // namespace tracewell::hooks
