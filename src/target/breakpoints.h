// Breakpoints and watchpoints as the debugger asks for them, and who decides at their hits.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

class BreakpointFilter;

/// Software breakpoints and watchpoints, asked for by the debugger. Inserting twice is one.
class Breakpoints {
 public:
  enum class Kind : uint8_t { Software, Hardware, WriteWatch, ReadWatch, AccessWatch };
  virtual ~Breakpoints() = default;
  /// Who is asked at each hit of a breakpoint (not of a watchpoint) whether it is to be told. Null,
  /// the default: all are. It must outlive the target, or be taken back.
  virtual void set_filter(BreakpointFilter* filter) { (void)filter; }
  virtual bool supports(Kind kind) const = 0;
  virtual Status insert(Pid pid, Kind kind, uint64_t address, uint32_t size) = 0;
  virtual Status remove(Pid pid, Kind kind, uint64_t address, uint32_t size) = 0;
};

/// Decides at the hit of a breakpoint. Called while only the thread that hit need be stopped.
class BreakpointFilter {
 public:
  virtual ~BreakpointFilter() = default;
  /// Is there anything to decide at this place? Where not, every hit is told.
  virtual bool decides(Pid pid, Breakpoints::Kind kind, uint64_t address) const = 0;
  /// False: nobody is told, and the thread goes on past the breakpoint at once. Called once for
  /// each hit of a breakpoint where decides() says so.
  virtual bool tell(HitContext& hit, Breakpoints::Kind kind) = 0;
};

}  // namespace tracewell::target
