// tracewell note FILE [N [TEXT]]: what people want to remember of steps.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "render/note_rows.h"
#include "trace/notes/note_changes.h"
#include "trace/notes_file.h"
#include "trace/open_steps.h"
#include "trace/questions/noted.h"

namespace tracewell::cli {
namespace {

struct NoteOptions {
  trace::InputOptions input;
  std::string step;
  std::vector<std::string> words;
  bool remove = false;
  bool clear = false;
  bool json = false;

  bool changes() const { return remove || clear || !words.empty(); }
};

Result<trace::OpenSteps> open_noted(const trace::InputOptions& options) {
  const Work work = command_work();
  TW_ASSIGN_OR_RETURN(trace::OpenTrace trace, trace::open_trace(options, work));
  TW_ASSIGN_OR_RETURN(trace::OpenSteps out, trace::with_steps(std::move(trace), options, work));
  tell_problems(out.trace, options.path);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

/// `step`: there is one, unless all are cleared.
trace::NoteChange change_of(const NoteOptions& options, std::optional<uint64_t> step) {
  using What = trace::NoteChange::What;
  if (options.clear) return {.what = What::Clear};
  if (options.remove) return {.what = What::Remove, .step = *step};
  return {.step = *step, .text = joined(options.words)};
}

Result<int> note(const NoteOptions& options) {
  if (options.input.path == "-")
    return {Errc::InvalidArgument, "notes are kept beside a file; give one"};
  std::optional<uint64_t> step;
  if (!options.step.empty()) {
    step = parse_number(options.step);
    if (!step) return {Errc::InvalidArgument, "not a step's number: " + options.step};
  }
  if (options.remove && (!step || !options.words.empty()))
    return {Errc::InvalidArgument, "--delete wants a step, and no text"};
  if (options.clear && step) return {Errc::InvalidArgument, "--clear deletes all notes"};
  if (!options.words.empty() &&
      joined(options.words).find_first_not_of(" \t\n") == std::string::npos)
    return {Errc::InvalidArgument, "there is no text in this note; --delete forgets one"};
  TW_ASSIGN_OR_RETURN(trace::OpenSteps noted, open_noted(options.input));
  const std::string& path = options.input.path;
  if (options.changes()) {
    TW_RETURN_IF_ERROR(trace::change_notes(noted, path, change_of(options, step)));
    return static_cast<int>(kOk);
  }
  const trace::TraceNotes notes =
      trace::notes_of(noted.trace, path, noted.catalog().notes, command_work());
  const auto show = [&](const trace::NotedStep& one) {
    fmt::print("{}\n", render::note_row(one, options.json));
    return true;
  };
  TW_ASSIGN_OR_RETURN(const uint64_t count, trace::noted_steps(noted, notes.notes, step, show));
  if (count != 0) return static_cast<int>(kOk);
  return nothing(step ? fmt::format("nothing is noted at step {}", *step) : "nothing is noted");
}

}  // namespace

Run note_command(OptionTable& table) {
  auto options = std::make_shared<NoteOptions>();
  add_input_options(table, options->input);
  table.add({
      {.names = "N",
       .to = &options->step,
       .unit = "step",
       .what = "the step; their number means behind the last one"},
      {.names = "TEXT",
       .to = &options->words,
       .what = "what to note there; without it, show what is noted"},
      {.names = "--delete", .to = &options->remove, .what = "forget what is noted at step N"},
      {.names = "--clear",
       .to = &options->clear,
       .what = "delete all notes, and those of another trace"},
      {.names = "--json", .to = &options->json, .what = "for scripts: an object a line"},
  });
  table.footer =
      "Notes are kept in FILE.notes, and go with the trace through convert and repair. Those in "
      "the trace itself are replaced by that file: without it they are there again. Exit status: "
      "1 when there is no note.";
  return [options](const Invocation&) {
    const auto status = note(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
