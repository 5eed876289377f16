// The inputs of a report, and what its heading and its last lines say of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/hooklog/follow.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_owner.h"
#include "model/stream.h"
#include "model/work.h"
#include "trace/file.h"

namespace tracewell::trace {

/// Templates of those who give none: $TRACEWELL_TEMPLATES, /etc/trcfmt, …/trcfmt: state_path(). May
/// not be there.
Result<std::string> default_templates(hooks::StateUse use = hooks::StateUse::Read);

/// What a log of trace hooks says of itself, such as `component`; "" = nothing.
std::string_view log_fact(const Catalog& catalog, std::string_view key);

/// One of the inputs.
struct ReportLog {
  std::string path;
  OpenTrace trace;                       // without its source
  bool has_frames = false;               // of tracepoints, and nothing else
  std::unique_ptr<Source> source;        // watched, as select_events() does
  std::optional<uint32_t> owner;         // hooks/log/log_owner.h
  std::optional<int64_t> times_from_ns;  // where its events' times begin, if not all logs' do there
};
/// `options` say nothing of which one.
Result<ReportLog> open_report_log(const hooks::LogName& name, InputOptions options,
                                  const Work& work);

/// A log of a session that may still run.
struct FollowedLog {
  ReportLog log;                             // its source is the follower
  formats::HooklogFollow* follow = nullptr;  // in `log`
};
/// What a session of this user's writes to `path`, until it ends. One that does not run is read as
/// it is.
Result<FollowedLog> follow_log(const std::string& path, const Work& work);

/// As AIX has it, as far as it is known; ends with an empty line. `first_ns`: where times begin;
/// nullopt where that is not known, or each log says it.
std::string report_heading(std::span<const ReportLog> logs, std::optional<int64_t> first_ns);
/// Says where a log is cut or damaged; "" = nowhere.
std::string damage_line(const ReportLog& log);

}  // namespace tracewell::trace
