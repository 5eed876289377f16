// How `tracewell note` shows what is noted.
#pragma once

#include <string>

#include "trace/questions/noted.h"

namespace tracewell::render {

/// A line, or a JSON object {"step","tid" or null,"pc" or null,"text"}; without the end of the
/// line.
std::string note_row(const trace::NotedStep& noted, bool json);

}  // namespace tracewell::render
