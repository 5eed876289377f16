// tracewell calls FILE: which function called which, when.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/call_rows.h"
#include "render/step_words.h"
#include "trace/questions/calls.h"
#include "trace/told_problems.h"

namespace tracewell::cli {
namespace {

struct CallsOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  trace::CallsQuestion question;
  uint64_t limit = UINT64_MAX;
  bool json = false;
};

Result<int> calls(const CallsOptions& options) {
  const trace::CallsQuestion& question = options.question;
  TW_RETURN_IF_ERROR(trace::check_range(question.from, question.to));
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(const trace::StepTrace trace,
                      open_step_trace(options.input, options.images));
  TW_RETURN_IF_ERROR(trace::check_steps(trace, question.from, question.to));
  if (question.thread) TW_RETURN_IF_ERROR(trace::check_thread(trace, *question.thread));
  const Work work = command_work();
  trace::tell_missing_steps(trace.trace, options.input.path, work);
  const render::StepWords words(trace.catalog(), trace.names);
  uint64_t count = 0;
  const auto show = [&](const trace::FoundCall& found) {
    fmt::print("{}\n", render::call_row(found, words, options.json));
    return ++count < options.limit;
  };
  TW_ASSIGN_OR_RETURN(const uint64_t all, trace::calls(trace, question, show, work));
  if (count != 0) return static_cast<int>(kOk);
  return nothing(trace::no_calls_text(question, all));
}

}  // namespace

Run calls_command(OptionTable& table) {
  auto options = std::make_shared<CallsOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "--from",
       .to = &options->question.from,
       .value = "N",
       .unit = "step",
       .what = "calls that arrive at step N or later",
       .otherwise = "the first"},
      {.names = "--to",
       .to = &options->question.to,
       .value = "N",
       .unit = "step",
       .what = "calls that arrive at step N or before",
       .otherwise = "the last"},
      {.names = "--thread",
       .to = &options->question.thread,
       .value = "ID",
       .unit = "thread",
       .what = "those of one thread",
       .otherwise = "all"},
      {.names = "--depth",
       .to = &options->question.depth,
       .value = "N",
       .unit = "calls",
       .what = "no deeper than N; 0 is what was called by code that ran already",
       .otherwise = "any"},
      {.names = "--limit",
       .to = &options->limit,
       .value = "N",
       .unit = "calls",
       .what = "end after N calls",
       .otherwise = "all"},
  });
  add_image_options(table, options->images,
                    "the names of functions and lines, and instructions that are not told");
  table.add({
      {.names = "--json", .to = &options->json, .what = "for scripts: an object a line"},
  });
  table.footer =
      "Calls in the order in which they arrive, each with its first and last step. Exit "
      "status: 1 when there is none.";
  return [options](const Invocation&) {
    const auto status = calls(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
