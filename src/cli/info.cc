// tracewell info FILE: format, machine, records, definitions, problems.
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
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

Run info_command(OptionTable& table) {
  auto options = std::make_shared<InfoOptions>();
  add_input_options(table, options->input);
  add_image_options(table, options->images, "its place, and whether it is what was executed");
  table.add({{.names = "--json", .to = &options->json, .what = "as JSON"}});
  return [options](const Invocation&) {
    const Status status = info(*options);
    return status.ok() ? static_cast<int>(kOk) : fail(status.error());
  };
}

}  // namespace tracewell::cli
