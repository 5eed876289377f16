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
#include "hooks/log/log_clock.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {

/// A ring as it was found.
struct DeadRing {
  tracewell_ring head = {};
  std::shared_ptr<InputFile> file;  // that `bytes` are in
  Bytes bytes;                      // fewer than the ring has, when a core file was cut
  std::string path;                 // of a ring that is a file by itself; "" = in a core file
  std::optional<LogClock> clock = {};  // of the log that it lay in, where that is of its session
  uint64_t began = 0;               // and when that was, in ticks; 0 = it does not say
  // Of one that a core file names:
  bool of_others = false;  // it is of another process's core, as far as that says whose
  bool gone = false;       // its file had no name any more
  std::string log = {};    // that its file was in; "" = a core file does not name it
  /// What that log's metadata say by now: nothing, where there is none that can be believed.
  enum class LogSays : uint8_t { Nothing, SameTrace, OtherTrace };
  LogSays log_says = LogSays::Nothing;
};

/// Which rings somebody asked for; all, where it says nothing.
struct RingChoice {
  std::optional<unsigned> channel;
  std::optional<Uuid> trace;
  std::string log;  // absolute; of a core file, those whose files were in it

  bool names_trace() const { return trace.has_value() || !log.empty(); }
};

struct DeadRings {
  std::vector<DeadRing> rings;
  // Sentences: of each file that could be one and was not read, of what is wrong with a core file,
  // and of what nobody can vouch for.
  std::vector<std::string> left_out;
  bool of_core = false;               // whoever wrote a core file chose the paths in it
};

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
