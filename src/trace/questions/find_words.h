// What to find, as people say it: a word for the kind, and a text for what it is to be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/questions/found.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

struct FindWords {
  std::string what;                    // exec, read, write, access, reg, bytes, value
  std::string argument;                // of it
  uint64_t from = 0, to = UINT64_MAX;  // steps, both included
  bool backward = false;
};

/// All that `what` can be.
std::vector<std::string> find_kinds();
/// What is wrong with them whatever the trace is: InvalidArgument. `what` is one of these.
Status check_find_words(const FindWords& words);
/// The question, where names of `trace` and of its images are meant. InvalidArgument says what the
/// argument should be, and what may have been meant.
Result<FindQuestion> find_question(const FindWords& words, const StepTrace& trace);
/// What to say where nothing was found: a hint if the argument may have been meant otherwise.
std::string nothing_found(const FindWords& words);

}  // namespace tracewell::trace
