// tracewell check FILE: is it whole?
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/check_report.h"
#include "trace/questions/check.h"

namespace tracewell::cli {
namespace {

struct CheckOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  bool json = false;
};

Result<int> check(const CheckOptions& options) {
  // --strict ends the search at the first sign of damage. For other commands that is an error of
  // their input; here it is the answer.
  const Work work = command_work();
  trace::InputOptions lenient = options.input;
  lenient.strict = false;
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(lenient, work, {.anew = true}));
  TW_ASSIGN_OR_RETURN(const trace::CheckReport report,
                      trace::check(trace, {options.input.strict, options.images}, work));
  const render::Checked of = {options.input.path, trace.format->name, options.input.strict};
  fmt::print("{}", options.json ? render::check_json(of, report, *trace.problems)
                                : render::check_text(of, report, *trace.problems));
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
