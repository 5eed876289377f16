#include "trace/notes/note_changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "trace/notes/notes_turn.h"
#include "trace/notes_file.h"

namespace tracewell::trace {
namespace {

/// What is there, to be changed.
Result<std::vector<Note>> notes_to_change(const std::string& path, const OpenSteps& noted) {
  ProblemLog problems;
  TW_ASSIGN_OR_RETURN(NotesFile file, read_notes(path, *noted.trace.file, problems));
  if (file.there && !file.fits && problems.empty())
    return {Errc::InvalidArgument,
            fmt::format("{} is not of this trace as it is now; look at it, or delete it by "
                        "--clear",
                        path)};
  if (!problems.empty())
    return {Errc::Corrupt, fmt::format("{}: {}; put it right, or delete it by --clear", path,
                                       problem_line(problems.kept().front()))};
  return file.fits ? std::move(file.notes) : noted.catalog().notes;
}

Status change_one(std::vector<Note>& notes, const NoteChange& change, uint64_t steps) {
  const bool remove = change.what == NoteChange::What::Remove;
  if (!remove && change.step > steps)
    return {Errc::InvalidArgument,
            fmt::format("there is no step {}: the trace has {}", change.step, steps)};
  const auto gone =
      std::erase_if(notes, [&](const Note& one) { return one.step == change.step; });
  if (remove && gone == 0)
    return {Errc::NotFound, fmt::format("nothing is noted at step {}", change.step)};
  if (remove) return {};
  if (change.text.size() > kNoteBytesMax)
    return {Errc::InvalidArgument, fmt::format("a note has {} bytes at most", kNoteBytesMax)};
  const auto at = std::ranges::upper_bound(notes, change.step, {}, &Note::step);
  notes.insert(at, {change.step, change.text});
  return {};
}

}  // namespace

Status change_notes(const OpenSteps& noted, const std::string& path, const NoteChange& change) {
  const std::string beside = notes_path(path);
  const InputFile& trace = *noted.trace.file;
  const std::vector<Note>& own = noted.catalog().notes;
  TW_ASSIGN_OR_RETURN(const Place place, place_to_keep(beside, {trace.path(), trace.facts()}));
  TW_ASSIGN_OR_RETURN(const NotesTurn turn, NotesTurn::take(place, beside));
  std::vector<Note> notes;
  if (change.what != NoteChange::What::Clear) {
    TW_ASSIGN_OR_RETURN(notes, notes_to_change(beside, noted));
    TW_RETURN_IF_ERROR(change_one(notes, change, noted.steps().count()));
  }
  // Without a file those in the trace would be there again.
  const bool needed = !notes.empty() || !own.empty();
  return needed ? write_notes(beside, trace, notes) : delete_notes(beside, trace);
}

}  // namespace tracewell::trace
