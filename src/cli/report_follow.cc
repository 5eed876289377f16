#include "cli/report_follow.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "base/paths.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "hooks/control/control.h"
#include "hooks/log/log_clock.h"
#include "hooks/log/log_owner.h"
#include "hooks/log/log_use.h"

namespace tracewell::cli {
namespace {

constexpr long kWaitNs = 50'000'000;

/// Does a session write to this log? Where others may write to its folder, the log may have another
/// name by now.
bool session_runs(const hooks::Control& control, const std::optional<formats::HooklogUuid>& log) {
  for (unsigned i = 0; log && i < TRACEWELL_HOOK_CHANNELS; ++i) {
    const tracewell_channel& channel = control.channel(i);
    if (channel.active != 0 && std::ranges::equal(*log, channel.uuid)) return true;
  }
  return false;
}

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
  formats::HooklogFollow::Session session;
  std::shared_ptr<hooks::Control> control;
  if (auto own = hooks::Control::open(); own.ok())
    control = std::make_shared<hooks::Control>(*std::move(own));
  // It may be another user's, or begun with another $XDG_RUNTIME_DIR.
  std::shared_ptr<Folder> held;
  if (auto named = Folder::named(folder); named.ok())
    held = std::make_shared<Folder>(*std::move(named));
  session.runs = [control, held](const std::optional<formats::HooklogUuid>& log) {
    if (interrupted() != 0 || !log) return false;
    return (control && session_runs(*control, log)) || (held && hooks::is_written_by(*held, *log));
  };
  session.ticks = [] { return hooks::now().ticks; };
  session.stop = [] { return interrupted() != 0; };
  TW_ASSIGN_OR_RETURN(auto follow, formats::HooklogFollow::open(folder, std::move(session),
                                                                *out.log.trace.problems));
  out.follow = follow.get();
  out.log.source = std::move(follow);
  out.log.owner = hooks::owner_of_open_log(nullptr, true, &out.follow->folder());
  return out;
}

void wait_for_more() {
  if (interrupted() != 0) return;
  const std::timespec time{0, kWaitNs};
  nanosleep(&time, nullptr);
}

}  // namespace tracewell::cli
