// tracewell calls FILE: which function called which, when.
#include <algorithm>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/image_names.h"
#include "cli/images.h"
#include "cli/step_trace.h"
#include "timeline/call_tree.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::Call;

constexpr uint32_t kIndentedMax = 32;  // levels; a line that is deeper says how deep

struct CallsOptions {
  InputOptions input;
  ImageOptions images;
  uint64_t from = 0, to = UINT64_MAX;  // steps, both included
  uint64_t depth = UINT64_MAX;         // the deepest
  uint64_t limit = UINT64_MAX;
  std::optional<uint64_t> thread;
  bool json = false;
};

bool is_wanted(const Call& call, const CallsOptions& options) {
  return call.first >= options.from && call.first <= options.to && call.depth <= options.depth &&
         (!options.thread || call.tid == *options.thread);
}

/// `end`: behind the last step of the function.
void print(const Call& call, const std::string& name, bool json) {
  const std::string address = fmt::format("{:#x}", call.function);
  if (json) {
    Json whole = {{"first", call.first}, {"last", call.end - 1}, {"tid", call.tid},
                  {"function", address}, {"back", fmt::format("{:#x}", call.back)},
                  {"depth", call.depth}, {"returned", call.returned}};
    if (!name.empty()) whole["name"] = name;
    fmt::print("{}\n", whole.dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  std::string text(2 * size_t{std::min(call.depth, kIndentedMax)}, ' ');
  text += address;
  if (!name.empty()) text += fmt::format(" <{}>", name);
  if (call.depth > kIndentedMax) text += fmt::format("  depth {}", call.depth);
  text += fmt::format("  steps {} to {}", call.first, call.end - 1);
  if (!call.returned) text += ", no return";
  if (call.tid != 0) text += fmt::format("  thread {}", call.tid);
  fmt::print("{}\n", text);
}

Result<int> calls(const CallsOptions& options) {
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input));
  AddressNames names;
  if (options.images.any()) {
    TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(trace.catalog(), options.images));
    names = image_names(std::move(images));
  }
  uint64_t count = 0;
  for (const Call& call : timeline::call_tree(*trace.timeline)) {
    if (count == options.limit) break;
    if (!is_wanted(call, options)) continue;
    print(call, names.code ? names.code(call.function) : "", options.json);
    ++count;
  }
  return static_cast<int>(count == 0 ? kNothing : kOk);
}

}  // namespace

Run calls_command(CLI::App& app) {
  auto options = std::make_shared<CallsOptions>();
  add_input_options(app, options->input);
  add_number_option(app, "--from", options->from, "calls that arrive at step N or later");
  add_number_option(app, "--to", options->to, "calls that arrive at step N or before");
  app.add_option_function<uint64_t>(
         "--thread", [options](const uint64_t& tid) { options->thread = tid; },
         "those of one thread")
      ->type_name("ID");
  add_number_option(app, "--depth", options->depth,
                    "no deeper than N; 0 is what was called by code that ran already");
  add_number_option(app, "--limit", options->limit, "end after N calls");
  add_image_options(app, options->images, "the names of functions and lines");
  app.add_flag("--json", options->json, "for scripts: an object a line");
  app.footer("Calls in the order in which they arrive, each with its first and last step. Exit "
             "status: 1 when there is none.");
  return [options](const Invocation&) {
    const auto status = calls(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
