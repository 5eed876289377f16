// What the packets that read and write memory share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/session/session.h"

namespace tracewell::agent {

struct MemoryRange {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes; address + size does not wrap
};

/// `<address><separator><length>`, to the end of the text.
std::optional<MemoryRange> parse_range(std::string_view text, char separator = ',');

/// The readable prefix (of the current process); nullopt when there is none, or no process.
std::optional<std::vector<uint8_t>> read_memory(const Session& session, uint64_t address,
                                                size_t size);

/// What is read at once of a range that may be as long as the address space.
constexpr uint64_t kWindowBytes = Inbox::kLookBytes;

/// Why what a selected frame recorded is not written to: in words, for the user.
Error frame_stays();

/// The whole packet's work once it is parsed. Nothing is written while a frame is selected.
void write_memory(Session& session, uint64_t address, Bytes bytes, Reply& reply);

}  // namespace tracewell::agent
