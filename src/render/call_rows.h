// How `tracewell calls` and `tracewell hits` show what was called and executed.
#pragma once

#include <string>

#include "render/step_words.h"
#include "trace/questions/calls.h"
#include "trace/questions/hits.h"

namespace tracewell::render {

/// A line, or a JSON object; without the end of the line.
std::string call_row(const trace::FoundCall& found, const StepWords& words, bool json);
/// `blocks`: it is a basic block, whose size is told.
std::string hit_row(const trace::HitCount& count, const StepWords& words, bool blocks, bool json);

}  // namespace tracewell::render
