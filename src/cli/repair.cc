// tracewell repair FILE OUT: write what can be saved, say what was lost.
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/process/terminal.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/check_report.h"
#include "trace/writing/repair.h"

namespace tracewell::cli {
namespace {

Result<int> repair(const trace::Repair& wanted) {
  // The trace itself may go where reports go.
  std::FILE* const report = is_output(wanted.output) ? stderr : stdout;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ProblemLog> problems,
                      trace::repair(wanted, command_work()));
  fmt::print(report, "{}", render::repair_text(wanted.input.path, wanted.output, *problems));
  const bool sound = problems->count(Problem::Severity::Warning) == 0;
  return static_cast<int>(sound ? kOk : kNothing);
}

}  // namespace

Run repair_command(OptionTable& table) {
  auto options = std::make_shared<trace::Repair>();
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
