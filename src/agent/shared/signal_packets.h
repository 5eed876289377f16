// What the packets that list signals share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tracewell::agent {

/// `<signal>;<signal>…`, GDB's numbers in hex, as Linux's. Those that Linux has not are left out;
/// nullopt where it is malformed.
std::optional<std::vector<int>> parse_signals(std::string_view body);

}  // namespace tracewell::agent
