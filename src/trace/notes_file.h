// FILE.notes: what people wrote at the steps of FILE. JSON lines: first what FILE was like, then a
// note a line (docs/formats/notes.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/problem.h"
#include "model/work.h"
#include "trace/file.h"

namespace tracewell::trace {

constexpr size_t kNoteBytesMax = 64 * 1024;

/// What stands in a file of notes.
struct NotesFile {
  bool there = false;
  /// It is of what the trace is now, or of what it was before more was appended.
  bool fits = false;
  std::vector<Note> notes;  // by step; empty unless it fits
};
/// "FILE.notes".
std::string notes_path(const std::string& trace);
/// Of this trace. Bad lines are problems, with their place, and left out. InvalidArgument: somebody
/// else may have written it (base/files/open.h, open_beside()).
Result<NotesFile> read_notes(const std::string& path, const InputFile& trace,
                             ProblemLog& problems);
/// As a whole or not at all; one without notes says that there are none, whatever is in the trace.
Status write_notes(const std::string& path, const InputFile& trace,
                   const std::vector<Note>& notes);
/// Of this trace. That there is none is no error.
Status delete_notes(const std::string& path, const InputFile& trace);

struct TraceNotes {
  std::vector<Note> notes;  // by step
  bool beside = false;      // of the file of notes: those in the trace do not count any more
};
/// The notes of a trace: those of its file of notes, if it has one that fits, else `own`. What is
/// wrong with the former, `work` is told.
TraceNotes notes_of(const OpenTrace& trace, const std::string& path, const std::vector<Note>& own,
                    const Work& work);
/// Of its own, those that its catalog knows; others are marks among its events.
TraceNotes notes_of(const OpenTrace& trace, const std::string& path, const Work& work);

}  // namespace tracewell::trace
