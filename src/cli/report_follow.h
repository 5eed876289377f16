// `tracewell report --follow`: logs of sessions that still run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/report_logs.h"
#include "formats/hooklog/follow.h"

namespace tracewell::cli {

struct FollowedLog {
  ReportLog log;                            // its source is the follower
  formats::HooklogFollow* follow = nullptr; // in `log`
};
/// What a session of this user's writes to `path`, until it ends. One that does not run is read as
/// it is.
Result<FollowedLog> follow_log(const std::string& path);

/// Waits a little for more; less when somebody wants us to end.
void wait_for_more();

}  // namespace tracewell::cli
