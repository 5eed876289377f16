// tracewell diff A B: where two runs of a program part, and why.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/diff_report.h"
#include "timeline/diff/diff.h"
#include "trace/compared_runs.h"

namespace tracewell::cli {
namespace {

struct DiffCommand {
  trace::InputOptions a, b;
  trace::ImageOptions images;
  timeline::DiffOptions options;
  bool json = false;
};

Result<bool> diff(const DiffCommand& command) {
  timeline::DiffOptions options = command.options;
  options.work = command_work();
  TW_ASSIGN_OR_RETURN(const trace::ComparedRuns runs,
                      trace::open_runs(command.a, command.b, command.images, options.work));
  const trace::OpenSteps& a = runs.a.steps;
  const trace::OpenSteps& b = runs.b.steps;
  TW_ASSIGN_OR_RETURN(const timeline::DiffReport report,
                      timeline::diff(a.side(), b.side(), options));
  const Catalog& catalog = a.catalog();
  const render::DiffWords words(a.side(), b.side(), report, runs.a.names);
  fmt::print("{}", command.json ? render::diff_json(report, catalog, words)
                                : render::diff_text(report, catalog, words, options.first));
  return report.same();
}

void add_diff_options(OptionTable& table, DiffCommand& command) {
  table.add({
      {.names = "A",
       .to = &command.a.path,
       .what = "a trace of executed instructions",
       .completes = Completes::File,
       .required = true},
      {.names = "B",
       .to = &command.b.path,
       .what = "another one, of the same program",
       .completes = Completes::File,
       .required = true},
      {.names = "--input-format",
       .to = &command.a.format,
       .value = "NAME",
       .what = "what A and B are, when their content does not say",
       .choices = readable_formats(),
       .open = true},
      {.names = "--strict", .to = &command.a.strict, .what = "fail at the first sign of damage"},
      {.names = "--first",
       .to = &command.options.first,
       .what = "tell the first difference, and compare nothing behind it"},
      {.names = "--ignore-loops",
       .to = &command.options.ignore_loops,
       .what = "how often a loop runs is no difference"},
      {.names = "--ignore-values",
       .to = &command.options.ignore_values,
       .what = "look for no causes"},
      {.names = "--ignore-registers",
       .to = &command.options.ignore_registers,
       .value = "LIST",
       .what = "registers that are no causes, such as rbp,eflags",
       .separator = ','},
      {.names = "--window",
       .to = &command.options.window,
       .value = "N",
       .unit = "steps",
       .what = "steps in which runs that have parted may meet again (1048576)",
       .otherwise = "1048576"},
      {.names = "--look-back",
       .to = &command.options.look_back,
       .value = "N",
       .unit = "steps",
       .what = "steps in which causes are looked for (65536)",
       .otherwise = "65536"},
      {.names = "--most",
       .to = &command.options.most,
       .value = "N",
       .unit = "differences",
       .what = "differences to tell of each thread (100)",
       .otherwise = "100"},
  });
}

}  // namespace

Run diff_command(OptionTable& table) {
  auto command = std::make_shared<DiffCommand>();
  add_diff_options(table, *command);
  add_image_options(table, command->images,
                    "the names of A's functions, lines and data, and of B's in the same places");
  table.add({{.names = "--json", .to = &command->json, .what = "as JSON"}});
  table.footer =
      "Exit status: 0 if the runs went the same way, 1 if they differ, or nobody can tell "
      "because steps are missing, be it in both: the last line, and \"undecided\" in JSON, "
      "say which.";
  return [command](const Invocation&) {
    command->b.format = command->a.format;
    command->b.strict = command->a.strict;
    const auto same = diff(*command);
    if (!same.ok()) return fail(same.error());
    return static_cast<int>(*same ? kOk : kNothing);
  };
}

}  // namespace tracewell::cli
