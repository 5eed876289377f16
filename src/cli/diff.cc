// tracewell diff A B: where two runs of a program part, and why.
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/diff_report.h"
#include "timeline/diff/diff.h"
#include "trace/images/image_names.h"
#include "trace/open_steps.h"

namespace tracewell::cli {
namespace {

struct DiffCommand {
  trace::InputOptions a, b;
  trace::ImageOptions images;
  uint64_t window = timeline::DiffOptions().window;
  uint64_t look_back = timeline::DiffOptions().look_back;
  uint64_t most = timeline::DiffOptions().most;
  bool first = false;
  bool ignore_loops = false;
  bool ignore_values = false;
  std::vector<std::string> ignore_registers;
  bool json = false;
};

struct Side {
  trace::OpenSteps steps;
  trace::AddressNames names;
};

Result<Side> open_side(const trace::InputOptions& options, const trace::ImageOptions& images,
                       const Work& work) {
  Side out;
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(options, work));
  TW_ASSIGN_OR_RETURN(out.names, trace::names_of_images(trace.source, images, work));
  TW_ASSIGN_OR_RETURN(out.steps, trace::with_steps(std::move(trace), options, work));
  return out;
}

Result<bool> diff(const DiffCommand& command) {
  if (command.a.path == "-" && command.b.path == "-")
    return {Errc::InvalidArgument,
            "both A and B are -, and standard input can be read once; give a file for one of them"};
  // The images are A's; B may be of another build. Opening is a pass over the whole file; nothing
  // is shared.
  const Work work = command_work();
  auto opening = begin([&] { return open_side(command.b, {}, work); });
  auto opened = open_side(command.a, command.images, work);
  auto other = opening.get();
  TW_ASSIGN_OR_RETURN(const Side a, std::move(opened));
  TW_ASSIGN_OR_RETURN(const Side b, std::move(other));
  tell_problems(a.steps.trace, command.a.path);
  tell_problems(b.steps.trace, command.b.path);
  timeline::DiffOptions options;
  options.first = command.first;
  options.ignore_loops = command.ignore_loops;
  options.ignore_values = command.ignore_values;
  options.ignore_registers = command.ignore_registers;
  options.window = command.window;
  options.look_back = command.look_back;
  options.most = command.most;
  options.work = work;
  TW_ASSIGN_OR_RETURN(const timeline::DiffReport report,
                      timeline::diff(a.steps.side(), b.steps.side(), options));
  const Catalog& catalog = a.steps.side().catalog;
  const render::DiffWords words(a.steps.side(), b.steps.side(), report, a.names);
  fmt::print("{}", command.json
                       ? render::diff_json(report, catalog, words)
                       : render::diff_text(report, catalog, words, command.first));
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
       .to = &command.first,
       .what = "tell the first difference, and compare nothing behind it"},
      {.names = "--ignore-loops",
       .to = &command.ignore_loops,
       .what = "how often a loop runs is no difference"},
      {.names = "--ignore-values", .to = &command.ignore_values, .what = "look for no causes"},
      {.names = "--ignore-registers",
       .to = &command.ignore_registers,
       .value = "LIST",
       .what = "registers that are no causes, such as rbp,eflags",
       .separator = ','},
      {.names = "--window",
       .to = &command.window,
       .value = "N",
       .unit = "steps",
       .what = "steps in which runs that have parted may meet again (1048576)",
       .otherwise = "1048576"},
      {.names = "--look-back",
       .to = &command.look_back,
       .value = "N",
       .unit = "steps",
       .what = "steps in which causes are looked for (65536)",
       .otherwise = "65536"},
      {.names = "--most",
       .to = &command.most,
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
