// FILE.notes: what people wrote at the steps of FILE. JSON lines: first what FILE was like, then a
// note a line (docs/formats/notes.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/trace_files.h"
#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::cli {

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
/// Of the trace with these bytes. Bad lines are problems, with their place, and left out.
Result<NotesFile> read_notes(const std::string& path, Bytes trace, ProblemLog& problems);
/// As a whole or not at all. Without notes, no file stays.
Status write_notes(const std::string& path, Bytes trace, const std::vector<Note>& notes);

/// The notes of a trace: those of its file of notes, if it has one that fits, else its own. What is
/// wrong with the former goes to standard error.
std::vector<Note> notes_of(const OpenTrace& trace, const std::string& path);
/// The same of a trace that was read into memory: its marks are notes, too.
std::vector<Note> notes_of(const OpenTrace& trace, const std::string& path,
                           const Catalog& stored);

}  // namespace tracewell::cli
