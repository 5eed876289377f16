// How `at --stack` shows the calls that are open.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "render/step_words.h"
#include "timeline/calls/call_stack_at.h"

namespace tracewell::render {

/// Lines, the innermost call first, and what the trace does not know of them.
std::string stack_text(const timeline::CallStackAt& stack, const StepWords& words);
/// "depth", "frames", "begin", "in_flight"; "lost" where something is lost.
nlohmann::ordered_json stack_json(const timeline::CallStackAt& stack, const StepWords& words);

}  // namespace tracewell::render
