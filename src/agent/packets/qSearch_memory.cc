// qSearch:memory:<address>;<length>;<binary pattern>: 1,<address> where it was found, or 0.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "agent/packets.h"
#include "agent/shared/memory_packets.h"
#include "rsp/framing.h"
#include "rsp/text.h"

namespace tracewell::agent {
namespace {

/// Pieces overlap by the pattern's length less one, so that no match is cut. nullopt: some of it
/// cannot be read. memmem() takes no longer for a long pattern, as std::search() does in zeros.
Result<std::optional<std::string>> search(Session& session, MemoryRange range, Bytes pattern) {
  while (range.size >= pattern.size()) {
    const size_t wanted = std::min<uint64_t>(range.size, kWindowBytes + pattern.size());
    TW_RETURN_IF_ERROR(session.go_on(wanted));
    const auto bytes = read_memory(session, range.address, wanted);
    if (!bytes) return std::optional<std::string>();
    const void* const found =
        ::memmem(bytes->data(), bytes->size(), pattern.data(), pattern.size());
    if (found != nullptr)
      return std::optional(fmt::format(
          "1,{:x}", range.address + static_cast<size_t>(static_cast<const uint8_t*>(found) -
                                                        bytes->data())));
    if (bytes->size() < wanted) return std::optional<std::string>();
    const size_t step = wanted - pattern.size() + 1;
    range.address += step;
    range.size -= step;
  }
  return std::optional<std::string>("0");
}

}  // namespace

void on_qSearch_memory(Session& session, std::string_view body, Reply& reply) {
  rsp::TextReader in(body);
  auto address = in.hex_until(';');
  auto size = address ? in.hex_until(';') : std::nullopt;
  auto pattern = rsp::unescape(in.take_rest());
  if (!address || !size || !pattern || pattern->empty()) return reply.error(1);
  if (*size != 0 && *size - 1 > UINT64_MAX - *address) return reply.error(1);
  const auto answer = search(session, {*address, *size}, *pattern);
  if (!answer) reply.error(answer.error());
  else if (*answer) reply.text(**answer);
  else reply.error(1);
}

}  // namespace tracewell::agent
