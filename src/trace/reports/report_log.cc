#include "trace/reports/report_log.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "base/text/text.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_use.h"
#include "hooks/session/writing_session.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

std::string date_text(int64_t ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::time_t seconds = ns / kSecond - (ns % kSecond < 0 ? 1 : 0);
  std::tm date = {};
  char text[64];
  if (!localtime_r(&seconds, &date)) return {};
  return {text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y\n", &date)};
}

void add_line(std::string& out, std::string_view head, std::string_view value) {
  if (!value.empty()) out += fmt::format("{}: {}\n", head, printable(value));
}

}  // namespace

Result<std::string> default_templates(hooks::StateUse use) {
  return hooks::state_path("TRACEWELL_TEMPLATES", "/etc/trcfmt", "trcfmt", use);
}

std::string_view log_fact(const Catalog& catalog, std::string_view key) {
  for (const auto& [name, value] : catalog.extras)
    if (name.starts_with("hooklog.") && std::string_view(name).substr(8) == key) return value;
  return {};
}

Result<ReportLog> open_report_log(const hooks::LogName& name, InputOptions options,
                                  const Work& work) {
  ReportLog log;
  options.path = log.path = name.path;
  options.found_in = name.found_in;
  TW_ASSIGN_OR_RETURN(log.trace, open_trace(options, work));
  const bool in_folder = log.trace.format && log.trace.format->name == "hooklog" && log.path != "-";
  log.owner = hooks::owner_of_open_log(log.trace.file.get(), in_folder,
                                       log.trace.source->folder());
  log.has_frames = log.trace.source->frames() != nullptr;
  TW_ASSIGN_OR_RETURN(log.source,
                      select_events(std::move(log.trace.source), {}, *log.trace.problems,
                                    options.strict, "reporting", work));
  return log;
}

Result<FollowedLog> follow_log(const std::string& path, const Work& work) {
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
  auto session = hooks::session_of_log(folder, work.stop);
  TW_ASSIGN_OR_RETURN(auto follow, formats::HooklogFollow::open(folder, std::move(session),
                                                                *out.log.trace.problems));
  out.follow = follow.get();
  out.log.source = std::move(follow);
  out.log.owner = hooks::owner_of_open_log(nullptr, true, out.follow->folder());
  return out;
}

std::string report_heading(std::span<const ReportLog> logs, std::optional<int64_t> first_ns) {
  std::string out = first_ns ? date_text(*first_ns) : "";
  std::string commands;
  for (const ReportLog& log : logs) {
    const Catalog& catalog = log.source->catalog();
    const std::string_view host = log_fact(catalog, "hostname");
    if (!host.empty()) out += fmt::format("System: Linux Node: {}\n", printable(host));
    out += fmt::format("Machine: {}, {} endian\n", printable(catalog.machine),
                       catalog.endian == Endian::Big ? "big" : "little");
    out += fmt::format("Log: {}, {}\n", printable(log.path), log.trace.format->name);
    const std::string from = log.times_from_ns ? date_text(*log.times_from_ns) : "";
    if (!from.empty()) out += "Times from: " + from;
    add_line(out, "Buffering", log_fact(catalog, "mode"));
    add_line(out, "Component", log_fact(catalog, "component"));
    add_line(out, "Message", log_fact(catalog, "message"));
    const std::string_view command = log_fact(catalog, "command");
    if (!command.empty()) commands += printable(command) + "\n";
  }
  if (!commands.empty()) out += "\n" + commands;
  return out + "\n";
}

std::string damage_line(const ReportLog& log) {
  uint64_t count = 0;
  const Problem* first = nullptr;
  for (const Problem& problem : log.trace.problems->kept()) {
    if (problem.severity != Problem::Severity::Damage) continue;
    if (count++ == 0) first = &problem;
  }
  if (!first) return {};
  const std::string place =
      first->offset ? fmt::format(" at offset 0x{:x}", *first->offset) : std::string();
  const uint64_t all = log.trace.problems->count(Problem::Severity::Damage);
  const std::string more = all > 1 ? fmt::format(" ({} such places)", all) : std::string();
  return fmt::format("*** {} is damaged{}: {}{}", printable(log.path), place,
                     printable(first->text), more);
}

}  // namespace tracewell::trace
