// A ring of trace hooks whose program is dead, or whose session nobody will end; and which of them
// somebody asks for.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
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

}  // namespace tracewell::hooks
