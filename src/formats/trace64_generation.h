// Which of x64dbg's recorders wrote a trace. No field says so; habits do.
#pragma once

#include <string>

#include "formats/trace64_scan.h"

namespace tracewell::formats::trace64 {

struct Generation {
  /// Of a push's or call's stack slot, the old content is that of [sp] (since June 2024).
  bool push_old_wrong = true;
  bool push_decided = false;  // the file itself says so
  bool both_entries = false;  // [sp] and [sp - word]: for a few days of June 2024
  bool leave_entries = false, leave_bare = false;
  /// Words are listed twice, as x64dbg does it; else only where they changed.
  bool minimal = false;
};

/// Looks at the first blocks of the file.
Generation find_generation(Bytes file, const Scan& scan);
/// For people: "x64dbg, June 2024 to August 2026".
std::string describe(const Generation& generation, const Scan& scan);

}  // namespace tracewell::formats::trace64
