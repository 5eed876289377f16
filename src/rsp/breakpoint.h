// Z and z packets: breakpoints and watchpoints, with the conditions and commands that the stub is
// to run (manual, "Packets").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tracewell::rsp {

struct BreakpointRequest {
  enum class Type : uint8_t { Software, Hardware, WriteWatch, ReadWatch, AccessWatch };

  bool insert = true;  // Z; false: z
  Type type = Type::Software;
  uint64_t address = 0;
  uint64_t kind = 0;  // size in bytes of a watched range, machine specific for breakpoints
  std::vector<std::vector<uint8_t>> conditions;  // bytecode; stop if none, or if any is true
  std::vector<std::vector<uint8_t>> commands;    // bytecode, run at each hit
  bool persist = false;  // the commands stay in force while no client is connected
};

/// The whole packet: `Z<type>,<addr>,<kind>[;X<len>,<code>…][;cmds:<persist>,X<len>,<code>…]`.
/// Unsupported for an unknown type (the reply to that is empty), InvalidArgument otherwise.
Result<BreakpointRequest> parse_breakpoint(std::string_view packet);

}  // namespace tracewell::rsp
