// tracewell check FILE: is it whole?
#include <unordered_set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/lost_events.h"
#include "cli/trace_files.h"

namespace tracewell::cli {
namespace {

/// What holds between events and catalog, beyond what the reader saw.
class Invariants {
 public:
  Invariants(const Catalog& catalog, ProblemLog& problems) : problems_(problems) {
    for (const TracepointDef& one : catalog.tracepoints)
      tracepoints_.insert(static_cast<int64_t>(one.number));
  }

  void look_at(const Event& event) {
    const auto* frame = std::get_if<Frame>(&event.body);
    if (!frame || tracepoints_.contains(frame->tracepoint)) return;
    if (!told_.insert(frame->tracepoint).second) return;
    problems_.add({std::nullopt, Problem::Severity::Note, "no-definition",
                   fmt::format("event {} belongs to tracepoint {}, which is not defined", event.seq,
                               frame->tracepoint)});
  }

 private:
  ProblemLog& problems_;
  std::unordered_set<int64_t> tracepoints_;
  std::unordered_set<int64_t> told_;
};

constexpr Problem::Severity kBad = Problem::Severity::Warning;

/// "", or "; lost: 12". What was lost while it was recorded is no damage of the file.
std::string tell_lost(const LostEvents& lost) {
  const std::vector<LostPlace> places = lost.places();
  if (places.empty()) return "";
  for (const LostPlace& place : places) fmt::print("lost {}\n", lost_place_text(place));
  return fmt::format("; lost: {}", lost_count_text(places));
}

Result<int> check(const InputOptions& options) {
  // --strict ends the search at the first sign of damage. For other commands that is an error of
  // their input; here it is the answer.
  InputOptions lenient = options;
  lenient.strict = false;
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(lenient));
  ProblemLog& problems = *trace.problems;
  Invariants invariants(trace.source->catalog(), problems);
  LostEvents lost;
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<Source> source,
      select_events(std::move(trace.source), {}, problems, false, "checking"));
  Batch batch;
  uint64_t events = 0;
  const auto enough = [&] { return options.strict && problems.count(kBad) > 0; };
  while (!enough()) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) break;
    for (const Event& event : batch.events()) {
      invariants.look_at(event);
      lost.look_at(event);
      // The records of `info`.
      if (!std::holds_alternative<Mark>(event.body) && !std::holds_alternative<Lost>(event.body))
        ++events;
    }
  }
  for (const Problem& problem : problems.kept()) fmt::print("{}\n", problem_line(problem));
  const uint64_t bad = problems.count(kBad);
  if (problems.count() > problems.kept().size())
    fmt::print("… and {} more\n", problems.count() - problems.kept().size());
  const std::string lost_text = tell_lost(lost);
  if (bad == 0) {
    fmt::print("{}: sound, {}{}\n", printable(options.path), counted(events, "event"), lost_text);
    return static_cast<int>(kOk);
  }
  if (options.strict)
    fmt::print("{}: damaged; the rest was not looked at\n", printable(options.path));
  else
    fmt::print("{}: damaged, {}; {} can be read{}\n", printable(options.path),
               counted(bad, "problem"), counted(events, "event"), lost_text);
  return static_cast<int>(kNothing);
}

}  // namespace

Run check_command(CLI::App& app) {
  auto options = std::make_shared<InputOptions>();
  add_input_options(app, *options);
  app.footer("Exit status: 0 sound, 1 damaged, 3 not a trace at all.");
  return [options](const Invocation&) {
    const auto status = check(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
