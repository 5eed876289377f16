// Rings of trace hooks that a program left which is dead, or whose session nobody will end: in the
// folder of a log, in files of their own, and in the program's core file.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "hooks/log_clock.h"

namespace tracewell::hooks {

/// A ring as it was found.
struct DeadRing {
  tracewell_ring head = {};
  std::shared_ptr<InputFile> file;  // that `bytes` are in
  Bytes bytes;                      // fewer than the ring has, when a core file was cut
  std::string path;                 // of a ring that is a file by itself; "" = in a core file
  std::optional<LogClock> clock;    // of the log that it lay in, where that is of its session
  uint64_t began = 0;               // and when that was, in ticks; 0 = it does not say
  bool of_others = false;           // in a core file of another process, as far as that says whose
};

struct DeadRings {
  std::vector<DeadRing> rings;
  // Sentences: of each file that could be one and was not read, and of what is wrong with a core
  // file.
  std::vector<std::string> left_out;
  bool of_core = false;               // whoever wrote a core file chose the paths in it
};

/// All rings that `path` leads to: the folder of a log, a ring's file, or a core file. In that are
/// rings whose files were gone; of others it has the names, and what is there of them is taken.
/// They are only read. Corrupt when `path` is none of these.
Result<DeadRings> find_dead_rings(const std::string& path);

struct Rescue {
  std::string log;     // what the rings went to
  uint64_t rings = 0;
  uint64_t packets = 0;
};

/// Puts what the rings hold into `log`, which is made when it is not there; else it must be the log
/// of the same session. Rings that are files of that log go. All are of one session. Into a log
/// that is there go no rings out of files of other users, who would decide what processes did, and
/// out of a core file none but those of its own process.
/// InvalidArgument when they are not, a program still writes to one of them, or the log is somebody
/// else's.
Result<Rescue> collect_dead_rings(const std::vector<DeadRing>& rings, const std::string& log,
                                  const std::string& command);

}  // namespace tracewell::hooks
