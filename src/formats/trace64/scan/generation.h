// Which of x64dbg's recorders wrote a trace. No field says so; habits do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/trace64/scan/push.h"
#include "formats/trace64/scan/scan.h"

namespace tracewell::formats::trace64 {

struct Generation {
  std::vector<PushOld> push_old;  // by session: each may have another recorder
  bool both_entries = false;      // [sp] and [sp - word]: for a few days of June 2024
  bool leave_entries = false, leave_bare = false;
  /// Words are listed twice, as x64dbg does it; else only where they changed.
  bool minimal = false;

  PushOld push_old_of(size_t session) const {
    return session < push_old.size() ? push_old[session] : PushOld::Unknown;
  }
};

/// Looks at the first blocks of each session.
Generation find_generation(Bytes file, const Scan& scan);
/// For people: "x64dbg, June 2024 to August 2026".
std::string describe(const Generation& generation, const Scan& scan, Bytes file);
/// Names and values for `info`: that, and which reading of the file was taken.
std::vector<std::pair<std::string, std::string>> reading_facts(const Generation& generation,
                                                               const Scan& scan, Bytes file);

}  // namespace tracewell::formats::trace64
