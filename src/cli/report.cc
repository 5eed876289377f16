// tracewell report FILE…: events as text, by templates that anyone can write. As `trcrpt` it stands
// in for AIX's command of that name, whose options it has; docs/how-to/report-by-templates.md
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/paths.h"
#include "base/files/text_file.h"
#include "base/process/terminal.h"
#include "base/text/text.h"
#include "cli/command.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "cli/report_options.h"
#include "cli/report_run.h"
#include "cli/trace_files.h"
#include "hooks/components/component_logs.h"
#include "hooks/session/session.h"
#include "hooks/words/hook_groups.h"
#include "report/report.h"

namespace tracewell::cli {
namespace {

struct ReportArguments {
  trace::ReportTask task;
  ReportOutput output;
  std::vector<std::string> templates;
  std::string color = "auto";
  std::vector<std::string> files;
  std::string components;  // of component_logs()
  uint64_t template_work = report::Renderer::kCommonWork / 1'000'000;
  bool check = false, list = false, list_groups = false, raw = false;
  trace::ReportWords words;
};

/// Reads template files. Errors are told and their templates left out; warnings only by --check.
/// Counts the errors.
Result<uint64_t> load(const ReportArguments& arguments, report::Templates& templates) {
  uint64_t errors = 0;
  const auto tell = [&](const std::vector<report::Diagnostic>& said) {
    for (const report::Diagnostic& one : said) {
      const bool is_error = one.severity == report::Diagnostic::Severity::Error;
      errors += is_error;
      if (is_error || arguments.check)
        fmt::print(arguments.check ? stdout : stderr, "{}", one.show());
    }
  };
  for (const std::string& path : arguments.templates) {
    if (arguments.output.verbose) fmt::print(stderr, "{}\n", printable(path));
    TW_ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
    tell(templates.add(path, text));
  }
  tell(templates.link());
  return errors;
}

/// Also what may not be looked at: it is said then what that is.
bool may_be_there(const std::string& path) { return !is_surely_missing(path); }

/// The common template file, and the common log, when nothing else is asked for.
void fill_in(ReportArguments& arguments) {
  if (arguments.templates.empty()) {
    const auto templates = believed_path(trace::default_templates());
    if (templates && may_be_there(*templates)) arguments.templates = {*templates};
  }
  if (!arguments.task.logs.empty()) return;
  const auto log = hooks::default_log();
  if (log.ok() && may_be_there(*log)) arguments.task.logs = {{*log}};
}

/// What is read is not written over: a template, a trace, what lies in the folder of a log.
Status spares_inputs(const ReportArguments& arguments) {
  const std::string& output = arguments.output.path;
  if (output == "-") return {};
  const std::string folder = parent_of(absolute_path(output));
  std::vector<std::string> inputs = arguments.templates;
  for (const hooks::LogName& log : arguments.task.logs) inputs.push_back(log.path);
  for (const std::string& path : inputs) {
    if (is_same_file(path, output))
      return {Errc::InvalidArgument, fmt::format("{} and {} are the same file; give another one "
                                                 "to write", printable(path), printable(output))};
    if (is_same_file(path, folder))
      return {Errc::InvalidArgument, fmt::format("{} is in the log {}; write it elsewhere",
                                                 printable(output), printable(path))};
  }
  return {};
}

Result<int> check(const ReportArguments& arguments) {
  if (arguments.templates.empty())
    return {Errc::InvalidArgument, "--check needs template files: -t FILE"};
  report::Templates templates;
  TW_ASSIGN_OR_RETURN(const uint64_t errors, load(arguments, templates));
  return static_cast<int>(errors == 0 ? kOk : kNothing);
}

Status choose_form(const ReportArguments& arguments, report::ReportOptions& options) {
  const ReportOutput& output = arguments.output;
  const bool rows = output.format != "text";
  TW_RETURN_IF_ERROR(check_csv_safe(output.csv_safe, output.format));
  if (rows + arguments.raw + (options.form == report::Form::Counts) > 1)
    return {Errc::InvalidArgument, "--format, -r and -O hist=on: one of them is enough"};
  if (rows) options.form = report::Form::Rows;
  if (arguments.raw) options.form = report::Form::Raw;
  if (arguments.raw && is_output(output.path) && output_is_terminal())
    return {Errc::InvalidArgument, "-r: entries are binary; not written to a terminal"};
  const bool to_terminal =
      arguments.color == "auto" && is_output(output.path) && output_has_color();
  options.columns.color = to_terminal || arguments.color == "always";
  options.column_heads = !arguments.task.no_heading;
  return {};
}

Result<int> report_events(ReportArguments& arguments) {
  for (const std::string& path : arguments.files) arguments.task.logs.push_back({path});
  if (!arguments.components.empty()) {
    if (arguments.task.follow)
      return {Errc::InvalidArgument, "-l and --follow: what `ctctrl -D` wrote does not grow"};
    TW_ASSIGN_OR_RETURN(const auto logs, hooks::component_logs(arguments.components));
    arguments.task.logs.insert(arguments.task.logs.end(), logs.begin(), logs.end());
  }
  fill_in(arguments);
  if (arguments.check) return check(arguments);
  if (arguments.list_groups) {
    TW_ASSIGN_OR_RETURN(const auto groups, own_hook_groups());
    fmt::print("{}", hooks::list_hook_groups(groups));
    return static_cast<int>(kOk);
  }
  TW_ASSIGN_OR_RETURN(report::ReportOptions options,
                      trace::parse_report_words(arguments.words, hooks_of_own_groups));
  TW_RETURN_IF_ERROR(choose_form(arguments, options));
  options.common_work = arguments.template_work * 1'000'000;
  arguments.task.has_templates = !arguments.templates.empty();
  arguments.output.hint = trace::hook_hint(arguments.words.hooks);
  report::Templates templates;
  TW_RETURN_IF_ERROR(load(arguments, templates));
  if (arguments.list) {
    fmt::print("{}", report::list_hooks(templates));
    return static_cast<int>(kOk);
  }
  if (arguments.task.logs.empty()) {
    const auto log = hooks::default_log();
    return {Errc::InvalidArgument,
            "which trace? FILE is missing, and " +
                (log.ok() ? "there is no " + printable(*log) : log.error().message)};
  }
  TW_RETURN_IF_ERROR(spares_inputs(arguments));
  return run_report(arguments.task, arguments.output, templates, options);
}

void add_sources(OptionTable& table, ReportArguments& arguments) {
  table.add({
      {.names = "FILE",
       .to = &arguments.files,
       .what = "traces; - is standard input. Without, the log that `trace` writes without -o",
       .completes = Completes::File},
      {.names = "-l,--components",
       .to = &arguments.components,
       .value = "NAME,…[:DIR]",
       .what = "logs that `ctctrl -D` wrote: of these components (server.*), or all; behind a "
               "colon their folder"},
  });
  add_reading_options(table, arguments.task.input);
  table.add({
      {.names = "-t,--template",
       .to = &arguments.templates,
       .value = "FILE",
       .what = "a template file (docs/formats/trcfmt.md); later ones replace templates of "
               "earlier ones. Without, $TRACEWELL_TEMPLATES, /etc/trcfmt for root, "
               "$XDG_STATE_HOME/tracewell/trcfmt for others",
       .completes = Completes::File,
       .shows_list = true},
      {.names = "-c,--check",
       .to = &arguments.check,
       .what = "say what is wrong or doubtful in the template files, and report nothing"},
      {.names = "-j,--list-hooks",
       .to = &arguments.list,
       .what = "list hooks and labels instead"},
      {.names = "-G,--list-groups",
       .to = &arguments.list_groups,
       .what = "list event groups instead"},
  });
}

void add_forms(OptionTable& table, ReportArguments& arguments) {
  trace::ReportTask& task = arguments.task;
  ReportOutput& output = arguments.output;
  table.add({
      {.names = "-m,--merge", .to = &task.merge, .what = "one report of all files, by time"},
      {.names = "-h,--no-heading", .to = &task.no_heading, .what = "no heading"},
      {.names = "-r,--raw", .to = &arguments.raw, .what = "stored entries instead of text"},
      {.names = "--format",
       .to = &output.format,
       .value = "NAME",
       .what = "jsonl or csv: an event a line, for programs; text is for people",
       .otherwise = "text",
       .choices = {"text", "jsonl", "csv"}},
  });
  add_csv_safe(table, output.csv_safe);
  table.add({
      {.names = "--template-work",
       .to = &arguments.template_work,
       .value = "MILLIONS",
       .unit = "millions of instructions",
       .what = "instructions, in millions, that all events (of one owner's logs) together may use "
               "beyond each event's own share (default 250)",
       .otherwise = "250",
       .most = report::Renderer::kCommonWorkMax / 1'000'000},
      {.names = "--follow",
       .to = &task.follow,
       .what = "go on with what is logged from now on, until the trace or Ctrl-C ends it"},
      {.names = "--color",
       .to = &arguments.color,
       .value = "WHEN",
       .what = "auto (on a terminal, without NO_COLOR), always or never",
       .otherwise = "auto",
       .choices = {"auto", "always", "never"}},
      {.names = "-o,--output",
       .to = &output.path,
       .value = "FILE",
       .what = "where to; - is standard output",
       .otherwise = "-",
       .completes = Completes::File},
      {.names = "-v,--verbose", .to = &output.verbose, .what = "name the files that are opened"},
      {.names = "-M",
       .to = Refused{"there is no lightweight memory trace"},
       .hidden = true},
      {.names = "-n",
       .to = Refused{"hooks carry no addresses of a kernel that a name list could resolve"},
       .hidden = true},
      {.names = "-@", .to = Refused{"there are no workload partitions"}, .hidden = true},
  });
}

}  // namespace

Run report_command(OptionTable& table) {
  auto arguments = std::make_shared<ReportArguments>();
  table.set_help("--help", "this text");
  add_sources(table, *arguments);
  add_forms(table, *arguments);
  add_report_words(table, arguments->words);
  table.footer =
      "Hooks: 010 or 0100; 02 is 020 to 02F. A tracepoint's frames have its number as four digits: "
      "000A is tracepoint 10; 00B are instruction steps.\n"
      "Several files without -m are reported one after the other.\n"
      "Exit status: 1 when nothing was printed, or some of the files could not be opened; with "
      "--check, when a template has an error. 3 when a trace is damaged; what is whole of it was "
      "printed.";
  return [arguments](const Invocation&) {
    const auto status = report_events(*arguments);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
