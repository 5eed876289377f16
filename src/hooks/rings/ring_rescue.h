// What `trcdead` does: rings that nobody will collect any more go to a log.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "hooks/rings/dead_rings.h"
#include "model/work.h"

namespace tracewell::hooks {

/// Texts as they were typed; "" where nothing was said.
struct RescueWords {
  std::string path;  // where they are; "": the log that trace has by default
  std::string log;   // where they go; "": to the log that they lay in, or the default one
  std::string from;  // of which trace: its log or UUID
  std::optional<unsigned> channel;
};

/// NotFound: there are none. `work` is told what is left out. `command` is what a log that is made
/// says that it was made by.
Result<Rescue> rescue_rings(const RescueWords& words, const std::string& command, const Work& work);

}  // namespace tracewell::hooks
