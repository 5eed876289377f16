#include "agent/shared/memory_packets.h"

#include "rsp/text.h"

namespace tracewell::agent {

std::optional<MemoryRange> parse_range(std::string_view text, char separator) {
  rsp::TextReader in(text);
  auto address = in.hex_until(separator);
  auto size = in.hex();
  if (!address || !size || !in.done()) return std::nullopt;
  if (*size != 0 && *size - 1 > UINT64_MAX - *address) return std::nullopt;
  return MemoryRange{*address, *size};
}

std::optional<std::vector<uint8_t>> read_memory(const Session& session, uint64_t address,
                                                size_t size) {
  auto pid = session.current_pid();
  if (!pid) return std::nullopt;
  std::vector<uint8_t> bytes(size);
  bytes.resize(session.target.read_memory(*pid, address, bytes));
  if (bytes.empty()) return std::nullopt;
  return bytes;
}

Error frame_stays() { return {Errc::Unsupported, "what a frame recorded cannot be changed", {}}; }

void write_memory(Session& session, uint64_t address, Bytes bytes, Reply& reply) {
  auto pid = session.current_pid();
  if (session.selected_frame) return reply.error(frame_stays());
  if (!pid) return reply.error(1);
  if (const Status known = session.knows_program(*pid); !known) return reply.error(known.error());
  const Status written =
      bytes.empty() ? Status() : session.target.write_memory(*pid, address, bytes);
  if (written) reply.ok();
  else reply.failed(written.error());
}

}  // namespace tracewell::agent
