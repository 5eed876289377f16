// Rings of trace hooks that a program left which is dead, or whose session nobody will end: in the
// folder of a log, in files of their own, and in the program's core file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/rings/dead_ring.h"

namespace tracewell::hooks {

/// Rings that `path` leads to: the folder of a log, a ring's file, or a core file. In that are
/// rings whose files were gone; of others it has the names, and what is there of them is taken.
/// They are only read. Some may be left out: those that `choice` is not about, and, of a log or
/// a core file, those of other traces or of ones that have ended; `left_out` tells of these.
/// Corrupt when `path` is none of these; InvalidArgument when it is not what `choice` is about.
Result<DeadRings> find_dead_rings(const std::string& path, const RingChoice& choice = {});

struct Rescue {
  std::string log;     // what the rings went to
  uint64_t rings = 0;
  uint64_t packets = 0;
};

/// Puts what the rings hold into `log`, which is made when it is not there; else it must be the log
/// of the same session. Rings that are files of that log go. All are of one session. Into a log
/// that is there go no rings out of files of other users, who would decide what processes did, and
/// out of a core file none but those of its own process whose files were in that log, or in the one
/// that it was made for, and not gone.
/// InvalidArgument when they are not, a program still writes to one of them, or the log is somebody
/// else's.
Result<Rescue> collect_dead_rings(const std::vector<DeadRing>& rings, const std::string& log,
                                  const std::string& command);

}  // namespace tracewell::hooks
