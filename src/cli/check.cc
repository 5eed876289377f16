// tracewell check FILE: is it whole?
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/info_report.h"
#include "render/json_document.h"
#include "trace/lost_events.h"
#include "trace/questions/check.h"

namespace tracewell::cli {
namespace {

/// "", or "; lost: 12". What was lost while it was recorded is no damage of the file.
std::string tell_lost(const std::vector<trace::LostPlace>& places) {
  if (places.empty()) return "";
  for (const trace::LostPlace& place : places) fmt::print("{}\n", trace::lost_place_line(place));
  return fmt::format("; lost: {}", trace::lost_count_text(places));
}

struct CheckOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  bool json = false;
};

void tell(const trace::OpenTrace& trace, const trace::CheckReport& report,
          const trace::InputOptions& input) {
  const ProblemLog& problems = *trace.problems;
  const std::string path = printable(input.path);
  for (const Problem& problem : problems.kept()) fmt::print("{}\n", problem_line(problem));
  if (problems.count() > problems.kept().size())
    fmt::print("… and {} more\n", problems.count() - problems.kept().size());
  const std::string lost = tell_lost(report.lost);
  const std::string events =
      counted(report.events, "event") + and_marks(report.has_steps ? 0 : report.marks);
  const uint64_t bad = problems.count(Problem::Severity::Warning);
  // What could be read in spite of its faults is not damaged.
  const std::string_view how =
      problems.count(Problem::Severity::Damage) == 0 ? "faulty" : "damaged";
  if (bad == 0)
    fmt::print("{}: sound, {}{}\n", path, events, lost);
  else if (input.strict)
    fmt::print("{}: {}; the rest was not looked at\n", path, how);
  else
    fmt::print("{}: {}, {}; {} can be read{}\n", path, how, counted(bad, "problem"), events, lost);
}

/// The keys are those of `info --json`. A search that ended early has counted no records.
void tell_json(const trace::OpenTrace& trace, const trace::CheckReport& report, bool strict) {
  const ProblemLog& problems = *trace.problems;
  const bool sound = trace::CheckReport::is_sound(problems);
  nlohmann::ordered_json out = {{"format", trace.format->name},
                                {"sound", sound},
                                {"damaged", problems.count(Problem::Severity::Damage) != 0},
                                {"records", report.events},
                                {"problems", render::problems_json(problems)},
                                {"problem_count", problems.count()},
                                {"lost", render::lost_json(report.lost)}};
  if (strict && !sound) out["records"] = nullptr;
  fmt::print("{}\n", render::json_document(out, 2));
}

Result<int> check(const CheckOptions& options) {
  // --strict ends the search at the first sign of damage. For other commands that is an error of
  // their input; here it is the answer.
  const Work work = command_work();
  trace::InputOptions lenient = options.input;
  lenient.strict = false;
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(lenient, work, {.anew = true}));
  TW_ASSIGN_OR_RETURN(const trace::CheckReport report,
                      trace::check(trace, {options.input.strict, options.images}, work));
  options.json ? tell_json(trace, report, options.input.strict)
               : tell(trace, report, options.input);
  return static_cast<int>(trace::CheckReport::is_sound(*trace.problems) ? kOk : kNothing);
}

}  // namespace

Run check_command(OptionTable& table) {
  auto options = std::make_shared<CheckOptions>();
  add_input_options(table, options->input);
  add_image_options(table, options->images,
                    "a comparison with what was executed, which is told beside the answer");
  table.add({{.names = "--json",
              .to = &options->json,
              .what = "for scripts: problems as 'info --json' has them"}});
  table.footer = "Exit status: 0 sound, 1 faulty or damaged, 3 not a trace at all.";
  return [options](const Invocation&) {
    const auto status = check(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
