// Breakpoints and watchpoints as a session remembers them, to take them out when its debugger is
// gone.
#pragma once

#include <compare>
#include <cstdint>

#include "rsp/breakpoint.h"
#include "target/target.h"

namespace tracewell::agent {

struct Inserted {
  target::Pid pid = 0;
  target::Breakpoints::Kind kind = target::Breakpoints::Kind::Software;
  uint64_t address = 0;
  uint32_t size = 0;
  auto operator<=>(const Inserted&) const = default;
};

/// The kind of a Z packet's type.
target::Breakpoints::Kind breakpoint_kind(rsp::BreakpointRequest::Type type);

}  // namespace tracewell::agent
