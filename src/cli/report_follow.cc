#include "cli/report_follow.h"

#include <ctime>
#include <memory>
#include <utility>

#include "base/paths.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "hooks/log/log_owner.h"
#include "hooks/log/log_use.h"
#include "hooks/session/writing_session.h"

namespace tracewell::cli {
namespace {

constexpr long kWaitNs = 50'000'000;

}  // namespace

Result<FollowedLog> follow_log(const std::string& path) {
  FollowedLog out;
  out.log.path = path;
  out.log.trace.problems = std::make_unique<ProblemLog>();
  out.log.trace.format = formats::find_format("hooklog");
  const std::string folder = hooks::log_path(path);
  if (is_surely_missing(folder))
    return {Errc::Io, printable(path) + ": there is no such log (yet): `trace` makes it"};
  if (is_there(folder) && !is_folder(folder))
    return {Errc::Unsupported, printable(path) + ": only logs of trace hooks can be followed"};
  if (is_surely_missing(folder + "/metadata"))
    return {Errc::Io,
            printable(path) + " is a folder, and no log: that would have a file 'metadata'"};
  auto session = hooks::session_of_log(folder, [] { return interrupted() != 0; });
  TW_ASSIGN_OR_RETURN(auto follow, formats::HooklogFollow::open(folder, std::move(session),
                                                                *out.log.trace.problems));
  out.follow = follow.get();
  out.log.source = std::move(follow);
  out.log.owner = hooks::owner_of_open_log(nullptr, true, out.follow->folder());
  return out;
}

void wait_for_more() {
  if (interrupted() != 0) return;
  const std::timespec time{0, kWaitNs};
  nanosleep(&time, nullptr);
}

}  // namespace tracewell::cli
