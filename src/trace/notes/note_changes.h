// Changes of what people wrote at the steps of a trace, in FILE.notes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/open_steps.h"

namespace tracewell::trace {

struct NoteChange {
  enum class What : uint8_t { Add, Remove, Clear };
  What what = What::Add;
  uint64_t step = 0;      // of Add and Remove
  std::string text = {};  // of Add
};

/// Waits for others who change the notes of the trace at `path` (notes_turn.h). Those in the trace
/// itself become those of the file, which then replaces them. A file that would lose something, for
/// it is damaged or not of this trace, is left alone, except by Clear. NotFound: nothing is noted
/// where it is to be removed. InvalidArgument: there is no such step, or the text is too long.
Status change_notes(const OpenSteps& noted, const std::string& path, const NoteChange& change);

}  // namespace tracewell::trace
