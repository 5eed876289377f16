// qCRC:<address>,<length>: the checksum of memory with which `compare-sections` asks whether the
// program is the one on disk (manual, "Separate Debug Files": CRC-32, most significant bit first).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/packets.h"
#include "agent/shared/memory_packets.h"

namespace tracewell::agent {
namespace {

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit)
      value = (value << 1) ^ ((value & 0x80000000u) != 0 ? 0x04c11db7u : 0);
    table[i] = value;
  }
  return table;
}();

}  // namespace

void on_qCRC(Session& session, std::string_view body, Reply& reply) {
  auto range = parse_range(body);
  if (!range) return reply.error(1);
  uint32_t crc = 0xffffffff;
  while (range->size > 0) {
    const uint64_t wanted = std::min(range->size, kWindowBytes);
    if (const Status status = session.go_on(wanted); !status) return reply.error(status.error());
    const auto bytes = read_memory(session, range->address, wanted);
    if (!bytes) return reply.error(1);
    for (uint8_t byte : *bytes) crc = (crc << 8) ^ kCrcTable[(crc >> 24) ^ byte];
    range->address += bytes->size();
    range->size -= bytes->size();
  }
  reply.text(fmt::format("C{:x}", crc));
}

}  // namespace tracewell::agent
