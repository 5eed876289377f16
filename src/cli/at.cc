// tracewell at FILE N: the machine's state before a step.
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/moment_report.h"
#include "trace/questions/moment.h"

namespace tracewell::cli {
namespace {

struct AtOptions {
  trace::InputOptions input;
  uint64_t step = 0;
  trace::ImageOptions images;
  std::optional<uint64_t> thread;
  render::MomentQuestion question;
  bool json = false;
};

Result<int> at(const AtOptions& options) {
  if (options.question.frames == 0) return {Errc::InvalidArgument, "--frames 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(const trace::StepTrace trace,
                      open_step_trace(options.input, options.images));
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::Moment moment,
                      trace::Moment::open(trace, options.step, options.thread, work));
  render::MomentQuestion question = options.question;
  question.thread = options.thread.has_value();
  TW_ASSIGN_OR_RETURN(
      const std::string report,
      render::moment_report(trace, std::move(moment), question, options.json, work));
  fmt::print("{}", report);
  return static_cast<int>(kOk);
}

}  // namespace

Run at_command(OptionTable& table) {
  auto options = std::make_shared<AtOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "N",
       .to = &options->step,
       .value = "N",
       .unit = "step",
       .what = "the step; their number means behind the last one",
       .required = true},
      {.names = "--regs",
       .to = &options->question.registers,
       .what = "registers; without --mem and --stack they are shown anyway"},
      {.names = "--reg",
       .to = &options->question.names,
       .value = "NAME,...",
       .what = "only these registers, parts or flags: rax,al,cs,ymm1,zf",
       .separator = ','},
      {.names = "--mem",
       .to = &options->question.memory,
       .value = "ADDR[,LEN]",
       .what = "memory; without LEN 16 bytes; with --image also NAME or NAME+N for ADDR, then all "
               "of it; '$rsp', '$rbp-0x10' and '$rbx+$rcx*8' are where the registers lead"},
      {.names = "--stack",
       .to = &options->question.stack,
       .what = "the calls that are open, the innermost one first"},
      {.names = "--frames",
       .to = &options->question.frames,
       .value = "N",
       .unit = "calls",
       .what = "no more than N of these",
       .otherwise = "64",
       .needs = "--stack"},
      {.names = "--thread",
       .to = &options->thread,
       .value = "ID",
       .unit = "thread",
       .what = "whose registers and calls, if not those of the thread that runs the step"},
  });
  add_image_options(table, options->images,
                    "the names of functions, lines and data, and instructions that are not told");
  table.add({{.names = "--json", .to = &options->json, .what = "for scripts"}});
  table.footer =
      "A byte that is not known is ??; 2a< is inferred from a later step, 2a? was so before others "
      "may have written there; \"states\" in JSON has a letter a byte: t(old), i(nferred), k(ept), "
      "?. "
      "A register that is not known is null in JSON. Segment "
      "registers, and what only x64dbg has, are shown by --reg and in JSON.";
  return [options](const Invocation&) {
    const auto status = at(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
