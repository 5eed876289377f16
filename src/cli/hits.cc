// tracewell hits FILE: how often each instruction, or each basic block, was executed.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/call_rows.h"
#include "render/step_words.h"
#include "trace/questions/hits.h"
#include "trace/told_problems.h"

namespace tracewell::cli {
namespace {

struct HitsOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  trace::HitsQuestion question;
  bool json = false;
  uint64_t limit = UINT64_MAX;
};

Result<int> hits(const HitsOptions& options) {
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(const trace::StepTrace trace,
                      open_step_trace(options.input, options.images));
  const Work work = command_work();
  trace::tell_missing_steps(trace.trace, options.input.path, work);
  const render::StepWords words(trace.catalog(), trace.names);
  uint64_t shown = 0;
  const auto show = [&](const trace::HitCount& count) {
    fmt::print("{}\n", render::hit_row(count, words, options.question.blocks, options.json));
    return ++shown < options.limit;
  };
  TW_ASSIGN_OR_RETURN(const uint64_t all, trace::hits(trace, options.question, show, work));
  return all == 0 ? nothing("the trace has no steps") : static_cast<int>(kOk);
}

}  // namespace

Run hits_command(OptionTable& table) {
  auto options = std::make_shared<HitsOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "--blocks",
       .to = &options->question.blocks,
       .what = "basic blocks: instructions that were always executed one behind the other"},
      {.names = "--by-address",
       .to = &options->question.by_address,
       .what = "by address, not by how often"},
      {.names = "--limit",
       .to = &options->limit,
       .value = "N",
       .unit = "lines",
       .what = "the first N only",
       .otherwise = "all"},
  });
  add_image_options(table, options->images,
                    "the names of functions and lines, and instructions that are not told");
  table.add({
      {.names = "--json", .to = &options->json, .what = "for scripts: an object a line"},
  });
  table.footer = "Exit status: 1 when the trace has no steps.";
  return [options](const Invocation&) {
    const auto status = hits(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
