#include "hooks/rings/ring_rescue.h"

#include <vector>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/log/log_use.h"
#include "hooks/rings/chosen_rings.h"
#include "hooks/session/session.h"

namespace tracewell::hooks {
namespace {

/// The log that the rings lay in, if they did.
std::string log_of_rings(const std::vector<DeadRing>& rings) {
  for (const DeadRing& one : rings) {
    if (!one.log.empty()) return one.log;
    if (!one.path.empty()) return parent_of(parent_of(one.path));
  }
  return "";
}

Result<std::string> log_for_rings(const std::string& named, const std::string& path,
                                  const DeadRings& found) {
  if (!named.empty()) return log_path(named);
  const std::string log = log_of_rings(found.rings);
  if (!log.empty() && found.of_core)
    return {Errc::InvalidArgument,
            fmt::format("{} is a core file, which says of itself that its rings are of the log {}; "
                        "-o LOG says where they shall go",
                        printable(path), printable(log))};
  if (!log.empty()) return log_path(log);
  TW_ASSIGN_OR_RETURN(const std::string usual, default_log(StateUse::Write));
  return log_path(usual);
}

RingChoice choice_of(const RescueWords& words) {
  RingChoice out;
  out.channel = words.channel;
  out.trace = read_uuid(words.from);
  if (!out.trace && !words.from.empty()) out.log = log_path(words.from);
  return out;
}

}  // namespace

Result<Rescue> rescue_rings(const RescueWords& words, const std::string& command,
                            const Work& work) {
  std::string path = words.path;
  if (path.empty()) {
    TW_ASSIGN_OR_RETURN(path, default_log());
  }
  TW_ASSIGN_OR_RETURN(const DeadRings found, find_dead_rings(path, choice_of(words)));
  for (const std::string& why : found.left_out) work.tell(printable(why));
  if (found.rings.empty())
    return {Errc::NotFound,
            fmt::format("there are no rings of trace hooks{}{} in {}",
                        words.channel ? fmt::format(" of channel {}", *words.channel) : "",
                        words.from.empty() ? "" : fmt::format(" of {}", printable(words.from)),
                        printable(path))};
  TW_ASSIGN_OR_RETURN(const std::string log, log_for_rings(words.log, path, found));
  return collect_dead_rings(found.rings, log, command);
}

}  // namespace tracewell::hooks
