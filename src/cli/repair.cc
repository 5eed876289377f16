// tracewell repair FILE OUT: write what can be saved, say what was lost.
#include <cstdio>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/paths.h"
#include "base/process/terminal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "filter/step_notes.h"
#include "trace/lost_files.h"
#include "trace/notes_file.h"

namespace tracewell::cli {
namespace {

struct RepairOptions {
  trace::InputOptions input;
  std::string output;
  formats::SaveOptions save;
};

Result<int> repair(const RepairOptions& options) {
  if (options.output != "-" && is_same_file(options.input.path, options.output))
    return Error{Errc::InvalidArgument,
                 fmt::format("{} and {} are the same file; what was lost should stay at hand",
                             printable(options.input.path), printable(options.output)),
                 {}};
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace,
                      trace::open_trace(options.input, work, {.anew = true}));
  if (!trace.format->create)
    return Error{Errc::Unsupported,
                 fmt::format("{} cannot be written; convert it to a format that can",
                             trace.format->description),
                 {}};
  ProblemLog& problems = *trace.problems;
  const formats::Format& format = *trace.format;
  const formats::Format* const meant = formats::find_format_for_path(options.output);
  if (meant != nullptr && meant != &format)
    return {Errc::InvalidArgument,
            fmt::format("repair writes the format of {}, {}, and {} is a name of {}; use another "
                        "name, and convert what was repaired",
                        printable(options.input.path), format.name, printable(options.output),
                        meant->name)};
  trace::TraceNotes notes = trace::notes_of(trace, options.input.path, work);
  trace.source = filter::with_notes(std::move(trace.source), std::move(notes.notes),
                                    notes.beside);
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<Source> source,
      trace::select_events(std::move(trace.source), {}, problems, options.input.strict, "repairing",
                           work));
  formats::SaveOptions save = options.save;
  save.sound = true;
  // The trace itself may go where reports go.
  std::FILE* const report = is_output(options.output) ? stderr : stdout;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, create_sink(format, options.output, save));
  tell_other_name(options.output, format, source->catalog().machine);
  TW_RETURN_IF_ERROR(pump(*source, *sink));
  trace::note_lost_bytes(trace.file.get(), *trace.problems);
  tell_left_out(*sink, options.output);
  for (const Problem& problem : problems.kept()) fmt::print(report, "{}\n", problem_line(problem));
  if (problems.count() > problems.kept().size())
    fmt::print(report, "… and {} more\n", problems.count() - problems.kept().size());
  const uint64_t bad = problems.count(Problem::Severity::Warning);
  if (bad == 0) {
    fmt::print(report, "{}: sound\n", printable(options.input.path));
    return static_cast<int>(kOk);
  }
  fmt::print(report, "{}: {}; {} has what could be saved\n",
             printable(options.input.path), counted(bad, "problem"), printable(options.output));
  return static_cast<int>(kNothing);
}

}  // namespace

Run repair_command(OptionTable& table) {
  auto options = std::make_shared<RepairOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "OUT",
       .to = &options->output,
       .what = "where to write, in the format of FILE; - is standard output",
       .completes = Completes::File,
       .required = true},
      {.names = "--compat",
       .to = &options->save.compat,
       .what = "write so that older readers open it (trace64: no user blocks, a small header)"},
  });
  table.footer =
      "Logs of trace hooks and the files of trace buffers (.twb) are read only: convert "
      "these. Exit status: 0 sound, 1 damaged and saved, 3 not a trace at all, or one that "
      "is read only.";
  return [options](const Invocation&) {
    const auto status = repair(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
