// tracewell info FILE: format, machine, records, definitions, problems.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/trace_files.h"
#include "render/info_report.h"
#include "trace/questions/check.h"

namespace tracewell::cli {
namespace {

struct InfoOptions {
  trace::InputOptions input;
  trace::ImageOptions images;
  bool json = false;
};

Status info(const InfoOptions& options) {
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(options.input, work));
  TW_ASSIGN_OR_RETURN(const trace::TraceInfo info,
                      trace::info(trace, options.input.path,
                                  {options.input.strict, options.images}, work));
  fmt::print("{}", options.json ? render::info_json(info) : render::info_text(info));
  return {};
}

}  // namespace

Run info_command(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  add_input_options(app, options->input);
  add_image_options(app, options->images, "its place, and whether it is what was executed");
  app.add_flag("--json", options->json, "as JSON");
  return [options](const Invocation&) {
    const Status status = info(*options);
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
