// Hexadecimal text, as the remote protocol and the trace files spell it: no 0x, lower case when we
// write, either case when we read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace tracewell {

/// 0..15, or -1 for anything that is not a hex digit.
int hex_digit(char c);

std::string to_hex(Bytes bytes);
inline std::string to_hex(std::string_view text) { return to_hex(as_bytes(text)); }
void append_hex(std::string& out, Bytes bytes);

/// Two digits a byte; nullopt for an odd count or a foreign character.
std::optional<std::vector<uint8_t>> from_hex(std::string_view text);
/// The same, as text.
std::optional<std::string> text_from_hex(std::string_view text);

/// A whole hex number of 1 digit or more that fits 64 bits (leading zeros are free); nullopt
/// otherwise.
std::optional<uint64_t> parse_hex(std::string_view text);

}  // namespace tracewell
