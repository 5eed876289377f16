// tracewell note FILE [N [TEXT]]: what people want to remember of steps.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/notes_turn.h"
#include "cli/options/option.h"
#include "cli/trace_files.h"
#include "formats/jsonl.h"
#include "timeline/store/step_store.h"
#include "trace/notes_file.h"

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

Status list(const trace::OpenSteps& noted, const std::vector<Note>& notes,
            std::optional<uint64_t> wanted, bool json, size_t& count) {
  std::string out;
  for (const Note& note : notes) {
    if (wanted && note.step != *wanted) continue;
    ++count;
    StepIndex::Moment moment;
    const bool there = note.step < noted.steps().count();
    if (there) TW_RETURN_IF_ERROR(noted.source->steps()->state_before(note.step, moment));
    if (json) {
      out = fmt::format("{{\"step\":{},\"tid\":{},\"pc\":{},\"text\":", note.step,
                        moment.tid != 0 ? fmt::format("{}", moment.tid) : "null",
                        there ? fmt::format("\"{:#x}\"", moment.pc) : "null");
      formats::append_json_text(out, note.text);
      fmt::print("{}}}\n", out);
    } else {
      fmt::print("step {}  {}  {}\n", note.step,
                 there ? fmt::format("pc {:#x}", moment.pc) : "behind the last one",
                 printable(note.text));
    }
  }
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

/// What is there, to be changed. A file that would lose something is left alone.
Status read_for_change(const std::string& path, const trace::OpenSteps& noted,
                       std::vector<Note>& notes) {
  ProblemLog problems;
  TW_ASSIGN_OR_RETURN(trace::NotesFile file, trace::read_notes(path, *noted.trace.file, problems));
  if (file.there && !file.fits && problems.empty())
    return {Errc::InvalidArgument,
            fmt::format("{} is not of this trace as it is now; look at it, or delete it by "
                        "--clear",
                        path)};
  if (!problems.empty())
    return {Errc::Corrupt, fmt::format("{}: {}; put it right, or delete it by --clear", path,
                                       problem_line(problems.kept().front()))};
  notes = file.fits ? std::move(file.notes) : noted.catalog().notes;
  return {};
}

Result<int> change(const NoteOptions& options, std::optional<uint64_t> step,
                   trace::OpenSteps& noted) {
  const std::string path = trace::notes_path(options.input.path);
  const InputFile& trace = *noted.trace.file;
  TW_ASSIGN_OR_RETURN(const Place place, place_to_keep(path, {trace.path(), trace.facts()}));
  TW_ASSIGN_OR_RETURN(const NotesTurn turn, NotesTurn::take(place, path));
  if (options.clear) {
    TW_RETURN_IF_ERROR(noted.catalog().notes.empty() ? trace::delete_notes(path, trace)
                                           : trace::write_notes(path, trace, {}));
    return static_cast<int>(kOk);
  }
  std::vector<Note> notes;
  TW_RETURN_IF_ERROR(read_for_change(path, noted, notes));
  if (!options.remove && *step > noted.steps().count())
    return {Errc::InvalidArgument, fmt::format("there is no step {}: the trace has {}", *step,
                                               noted.steps().count())};
  const auto gone = std::erase_if(notes, [&](const Note& one) { return one.step == *step; });
  if (options.remove && gone == 0)
    return nothing(fmt::format("nothing is noted at step {}", *step));
  if (!options.remove) {
    std::string text = joined(options.words);
    if (text.size() > trace::kNoteBytesMax)
      return {Errc::InvalidArgument,
              fmt::format("a note has {} bytes at most", trace::kNoteBytesMax)};
    const auto at = std::ranges::upper_bound(notes, *step, {}, &Note::step);
    notes.insert(at, {*step, std::move(text)});
  }
  const bool needed = !notes.empty() || !noted.catalog().notes.empty();
  TW_RETURN_IF_ERROR(needed ? trace::write_notes(path, trace, notes)
                            : trace::delete_notes(path, trace));
  return static_cast<int>(kOk);
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
  if (options.changes()) return change(options, step, noted);
  const std::string& path = options.input.path;
  const trace::TraceNotes notes =
      trace::notes_of(noted.trace, path, noted.catalog().notes, command_work());
  size_t count = 0;
  TW_RETURN_IF_ERROR(list(noted, notes.notes, step, options.json, count));
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
