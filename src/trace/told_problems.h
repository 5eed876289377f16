// What is wrong with a trace, told beside the answer to another question. Files of some recorders
// have the same fault at dozens of places: a sentence each would bury the answer.
#pragma once

#include <string>

#include "model/work.h"
#include "trace/file.h"
#include "trace/lost_events.h"
#include "trace/selection.h"

namespace tracewell::trace {

// `path`: what the trace is called in the sentences that `work` is told.

/// The first few of each kind, and how many there are of it.
void tell_problems(const OpenTrace& trace, const std::string& path, const Work& work);
/// Also those notes that say that steps are missing: an answer may be among these.
void tell_missing_steps(const OpenTrace& trace, const std::string& path, const Work& work);
/// What a trace has lost of events that might have been chosen: the first few places.
void tell_lost_events(const LostEvents& lost, const std::string& path, const Work& work);
/// Both, where --where chooses.
void tell_losses(const OpenTrace& trace, const SelectionOptions& selection,
                 const std::string& path, const Work& work);
/// At the end of all: what was not told by then of files that were cut while they were read.
/// true: there was some, so that answers may be wrong.
bool tell_lost_files(const Work& work);

}  // namespace tracewell::trace
