// tracewell check FILE: is it whole?
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/image_code.h"
#include "cli/images.h"
#include "cli/info_report.h"
#include "cli/json_document.h"
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
  for (const LostPlace& place : places) fmt::print("{}\n", lost_place_line(place));
  return fmt::format("; lost: {}", lost_count_text(places));
}

struct CheckOptions {
  InputOptions input;
  ImageOptions images;
  bool json = false;
};

struct Counts {
  uint64_t events = 0;  // the records of `info`
  uint64_t marks = 0;   // beside these; none in a trace of steps, whose numbers they have
  bool steps = false;

  void look_at(const Event& event) {
    steps |= std::holds_alternative<Step>(event.body);
    if (std::holds_alternative<Mark>(event.body))
      ++marks;
    else if (!std::holds_alternative<Lost>(event.body))
      ++events;
  }
  std::string text() const { return counted(events, "event") + and_marks(steps ? 0 : marks); }
};

void tell(const OpenTrace& trace, const Counts& counts, const LostEvents& lost,
          const InputOptions& input) {
  const ProblemLog& problems = *trace.problems;
  const std::string path = printable(input.path);
  for (const Problem& problem : problems.kept()) fmt::print("{}\n", problem_line(problem));
  if (problems.count() > problems.kept().size())
    fmt::print("… and {} more\n", problems.count() - problems.kept().size());
  const std::string lost_text = tell_lost(lost);
  const uint64_t bad = problems.count(kBad);
  // What could be read in spite of its faults is not damaged.
  const std::string_view how =
      problems.count(Problem::Severity::Damage) == 0 ? "faulty" : "damaged";
  if (bad == 0)
    fmt::print("{}: sound, {}{}\n", path, counts.text(), lost_text);
  else if (input.strict)
    fmt::print("{}: {}; the rest was not looked at\n", path, how);
  else
    fmt::print("{}: {}, {}; {} can be read{}\n", path, how, counted(bad, "problem"),
               counts.text(), lost_text);
}

/// The keys are those of `info --json`. A search that ended early has counted no records.
void tell_json(const OpenTrace& trace, uint64_t events, const LostEvents& lost, bool strict) {
  const ProblemLog& problems = *trace.problems;
  const bool sound = problems.count(kBad) == 0;
  nlohmann::ordered_json out = {{"format", trace.format->name},
                                {"sound", sound},
                                {"damaged", problems.count(Problem::Severity::Damage) != 0},
                                {"records", events},
                                {"problems", problems_json(problems)},
                                {"problem_count", problems.count()},
                                {"lost", lost_json(lost.places())}};
  if (strict && !sound) out["records"] = nullptr;
  fmt::print("{}\n", json_document(out, 2));
}

Result<int> check(const CheckOptions& options) {
  // --strict ends the search at the first sign of damage. For other commands that is an error of
  // their input; here it is the answer.
  InputOptions lenient = options.input;
  lenient.strict = false;
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(lenient, {.anew = true}));
  ProblemLog& problems = *trace.problems;
  if (options.images.any()) {
    TW_ASSIGN_OR_RETURN(const symbols::ImageMap images,
                        place_images(trace.source->catalog(), options.images));
    trace.source = with_checked_code(std::move(trace.source), images);
  }
  Invariants invariants(trace.source->catalog(), problems);
  LostEvents lost;
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<Source> source,
      select_events(std::move(trace.source), {}, problems, false, "checking"));
  Batch batch;
  Counts counts;
  const auto enough = [&] { return options.input.strict && problems.count(kBad) > 0; };
  while (!enough()) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) break;
    for (const Event& event : batch.events()) {
      invariants.look_at(event);
      lost.look_at(event);
      counts.look_at(event);
    }
  }
  note_lost_bytes(trace);
  options.json ? tell_json(trace, counts.events, lost, options.input.strict)
               : tell(trace, counts, lost, options.input);
  return static_cast<int>(problems.count(kBad) == 0 ? kOk : kNothing);
}

}  // namespace

Run check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_input_options(app, options->input);
  add_image_options(app, options->images,
                    "a comparison with what was executed, which is told beside the answer");
  app.add_flag("--json", options->json, "for scripts: problems as 'info --json' has them");
  app.footer("Exit status: 0 sound, 1 faulty or damaged, 3 not a trace at all.");
  return [options](const Invocation&) {
    const auto status = check(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
