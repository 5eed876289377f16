// tracewell report FILE: events as text, by templates that anyone can write.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/report_options.h"
#include "cli/trace_files.h"
#include "report/report.h"

namespace tracewell::cli {
namespace {

struct ReportArguments {
  InputOptions input;
  std::vector<std::string> templates;
  std::string output = "-";
  bool check = false, list = false, no_heading = false;
  ReportWords words;
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
    TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(path));
    tell(templates.add(path, as_text(file->bytes())));
  }
  tell(templates.link());
  return errors;
}

Result<int> check(const ReportArguments& arguments) {
  if (arguments.templates.empty())
    return {Errc::InvalidArgument, "--check needs template files: -t FILE"};
  report::Templates templates;
  TW_ASSIGN_OR_RETURN(const uint64_t errors, load(arguments, templates));
  return static_cast<int>(errors == 0 ? kOk : kNothing);
}

std::string heading(const OpenTrace& trace, const std::string& path) {
  const Catalog& catalog = trace.source->catalog();
  return fmt::format("{}: {}, {}, {} endian\n\n", printable(path), trace.format->name,
                     printable(catalog.machine), catalog.endian == Endian::Big ? "big" : "little");
}

Result<int> print(const ReportArguments& arguments, const report::Templates& templates,
                  report::ReportOptions options) {
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(arguments.input));
  if (arguments.no_heading) {
    options.column_heads = false;
  } else {
    options.heading = heading(trace, arguments.input.path);
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                      select_events(std::move(trace.source), {}, *trace.problems,
                                    arguments.input.strict, "reporting"));
  TW_ASSIGN_OR_RETURN(OutputFile output, OutputFile::create(arguments.output));
  report::LogFacts facts;
  facts.name = arguments.input.path;
  report::Report sink(templates, std::move(options), facts,
                      [&](std::string_view text) { return output.write(text); });
  TW_RETURN_IF_ERROR(sink.begin(source->catalog()));
  Batch batch;
  Status done;
  while (!sink.stopped()) {
    const Result<bool> more = source->next(batch);
    if (!more.ok()) done = more.error();
    if (!more.ok() || !*more) break;
    TW_RETURN_IF_ERROR(sink.write(batch));
  }
  // What came before an error is whole, and printed.
  TW_RETURN_IF_ERROR(sink.finish());
  TW_RETURN_IF_ERROR(output.commit());
  tell_problems(trace, arguments.input.path);
  if (!done.ok()) return done.error();
  return sink.printed() == 0 ? nothing("nothing was to be printed") : static_cast<int>(kOk);
}

Result<int> report_events(const ReportArguments& arguments) {
  if (arguments.check) return check(arguments);
  TW_ASSIGN_OR_RETURN(report::ReportOptions options, parse_report_words(arguments.words));
  report::Templates templates;
  TW_RETURN_IF_ERROR(load(arguments, templates));
  if (arguments.list) {
    fmt::print("{}", report::list_hooks(templates));
    return static_cast<int>(kOk);
  }
  if (arguments.input.path.empty()) return {Errc::InvalidArgument, "which trace? FILE is missing"};
  return print(arguments, templates, std::move(options));
}

}  // namespace

Run report_command(CLI::App& app) {
  auto arguments = std::make_shared<ReportArguments>();
  app.set_help_flag("--help", "this text");
  add_input_options(app, arguments->input);
  app.get_option("FILE")->required(false);
  app.add_option("-t,--template", arguments->templates,
                 "a template file (docs/formats/trcfmt.md); later ones replace templates of "
                 "earlier ones")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("-c,--check", arguments->check,
               "say what is wrong or doubtful in the template files, and report nothing");
  app.add_flag("-j,--list-hooks", arguments->list, "list hooks and labels instead");
  app.add_flag("-h,--no-heading", arguments->no_heading, "no heading");
  app.add_option("-o,--output", arguments->output, "where to; - is standard output")
      ->type_name("FILE");
  add_report_words(app, arguments->words);
  app.footer(
      "Hooks: 010 or 0100. A tracepoint's frames have its number as four digits: 000A is "
      "tracepoint 10; 00B are instruction steps.\n"
      "Exit status: 1 when nothing was printed; with --check, when a template has an error.");
  return [arguments](const Invocation&) {
    const auto status = report_events(*arguments);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
