// What `tracewell check` and `repair` say of the problems of a trace.
#pragma once

#include <string>
#include <string_view>

#include "model/problem.h"
#include "trace/questions/check.h"

namespace tracewell::render {

/// A line for each problem that was kept, and one for those that were not.
std::string problem_lines(const ProblemLog& problems);

/// Whose trace is told: the `path` that was asked, and its format. `strict`: the search ended at
/// the first problem, and has counted no records.
struct Checked {
  std::string_view path, format;
  bool strict = false;
};
std::string check_text(const Checked& of, const trace::CheckReport& report,
                       const ProblemLog& problems);
/// {"format","sound","damaged","records" or null,"problems","problem_count","lost"}, whose keys are
/// those of info_json().
std::string check_json(const Checked& of, const trace::CheckReport& report,
                       const ProblemLog& problems);

/// Of a trace at `path` that was written to `output` as far as it could be read.
std::string repair_text(std::string_view path, std::string_view output,
                        const ProblemLog& problems);

}  // namespace tracewell::render
