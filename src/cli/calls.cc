// tracewell calls FILE: which function called which, when.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/images.h"
#include "cli/json_document.h"
#include "cli/step_trace.h"
#include "cli/step_words.h"
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

/// "of thread 7, at depth 0 to 2, …"
std::string wanted_text(const CallsOptions& options) {
  std::vector<std::string> parts;
  if (options.thread) parts.push_back(fmt::format("of thread {}", *options.thread));
  if (options.depth != UINT64_MAX) parts.push_back(fmt::format("at depth {}", options.depth));
  if (options.from != 0) parts.push_back(fmt::format("at step {} or behind it", options.from));
  if (options.to != UINT64_MAX)
    parts.push_back(fmt::format("at step {} or before it", options.to));
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " and ") + part;
  return out;
}

/// `caller`: the step that called; nullptr when it is not there.
void print(const Call& call, const Event* caller, const StepWords& words, bool json) {
  const std::string name = words.code_name(call.function);
  const std::string address = fmt::format("{:#x}", call.function);
  if (json) {
    Json whole = {{"first", call.first}, {"last", call.end - 1}, {"tid", thread_number(call.tid)},
                  {"function", address}, {"back", fmt::format("{:#x}", call.back)},
                  {"depth", call.depth}, {"returned", call.returned}};
    if (!name.empty()) whole["name"] = name;
    if (caller != nullptr) whole["call"] = words.object(*caller);
    fmt::print("{}\n", json_document(whole));
    return;
  }
  std::string text(2 * size_t{std::min(call.depth, kIndentedMax)}, ' ');
  text += address + words.code(call.function);
  if (call.depth > kIndentedMax) text += fmt::format("  depth {}", call.depth);
  text += fmt::format("  steps {} to {}", call.first, call.end - 1);
  if (!call.returned) text += ", no return";
  if (call.tid != 0) text += fmt::format("  thread {}", call.tid);
  if (caller != nullptr) {
    const Step& step = std::get<Step>(caller->body);
    text += fmt::format("  from {:#x}{}  {}", step.pc, words.code(step.pc),
                        words.instruction(step.opcode, step.pc));
  }
  fmt::print("{}\n", text);
}

/// The thread's last step before the call's first one. Until the next question.
Result<const Event*> caller_of(StepTrace& trace, const Call& call) {
  const auto last = trace.timeline->last_step_of(call.tid, call.first);
  if (!last) return nullptr;
  return trace.step(*last);
}

Result<int> calls(const CallsOptions& options) {
  TW_RETURN_IF_ERROR(check_range(options.from, options.to));
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input, options.images));
  TW_RETURN_IF_ERROR(check_steps(trace, options.from, options.to));
  if (options.thread) TW_RETURN_IF_ERROR(check_thread(trace, *options.thread));
  tell_missing_steps(trace.trace, options.input.path);
  AddressNames names = std::move(trace.names);
  const StepWords words(trace.catalog(), std::move(names));
  uint64_t count = 0;
  const auto all = timeline::call_tree(*trace.timeline);
  TW_RETURN_IF_ERROR(trace.answers_hold());
  for (const Call& call : all) {
    if (count == options.limit) break;
    if (!is_wanted(call, options)) continue;
    TW_ASSIGN_OR_RETURN(const Event* const caller, caller_of(trace, call));
    print(call, caller, words, options.json);
    ++count;
  }
  if (count != 0) return static_cast<int>(kOk);
  return nothing(all.empty() ? "no call whose callee's first step is recorded is in this trace"
                             : fmt::format("none of the calls in this trace ({}) is {}", all.size(),
                                           wanted_text(options)));
}

}  // namespace

Run calls_command(CLI::App& app) {
  auto options = std::make_shared<CallsOptions>();
  add_input_options(app, options->input);
  add_number_option(app, "--from", options->from, "calls that arrive at step N or later");
  add_number_option(app, "--to", options->to, "calls that arrive at step N or before");
  add_number_option(app, "--thread", options->thread, "those of one thread")->type_name("ID");
  add_number_option(app, "--depth", options->depth,
                    "no deeper than N; 0 is what was called by code that ran already");
  add_number_option(app, "--limit", options->limit, "end after N calls");
  add_image_options(app, options->images,
                    "the names of functions and lines, and instructions that are not told");
  app.add_flag("--json", options->json, "for scripts: an object a line");
  app.footer("Calls in the order in which they arrive, each with its first and last step. Exit "
             "status: 1 when there is none.");
  return [options](const Invocation&) {
    const auto status = calls(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
