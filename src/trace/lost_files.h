// Files that lack bytes which they had when they were opened (InputFile::lost()): what is told of
// them, once.
#pragma once

#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "model/problem.h"

namespace tracewell::trace {

/// It is a trace, and its loss that trace's problem; open_trace() says so. Any thread.
void note_trace_file(const InputFile& file);
/// Adds to a trace's problems what is lost of its file (nullptr: it has none), and of all files
/// that are no traces (its index, images) and were not told of. For when all was read.
void note_lost_bytes(const InputFile* trace, ProblemLog& problems);
/// Those that nobody was told of by now, who is told by this; none where no trace was opened.
std::vector<LostFile> untold_lost_files();
/// "12 bytes could not be read, and were taken as zeros: …"
std::string lost_bytes_text(const LostBytes& lost);
/// Corrupt when anything was lost, told or not: for --strict.
Status no_lost_files();

}  // namespace tracewell::trace
