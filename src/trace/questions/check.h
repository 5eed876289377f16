// Is a trace whole, and what is in it: answers that take a walk over all of its events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/problem.h"
#include "model/work.h"
#include "trace/file.h"
#include "trace/images/images.h"
#include "trace/lost_events.h"
#include "trace/questions/processes.h"

namespace tracewell::trace {

struct CheckQuestion {
  bool first_problem = false;  // end at the first one; nothing is counted then
  ImageOptions images;         // to be compared with what was executed
};

/// What is wrong stands in the trace's own problems.
struct CheckReport {
  uint64_t events = 0;     // steps, frames and hooks
  uint64_t marks = 0;      // beside these
  bool has_steps = false;  // a mark has the number of the step behind it
  std::vector<LostPlace> lost;  // while it was recorded: no damage of the file

  /// Nothing is worse than a note.
  static bool is_sound(const ProblemLog& problems) {
    return problems.count(Problem::Severity::Warning) == 0;
  }
};
/// Reads `trace` to its end, which takes its source; a trace to be checked is opened anew
/// (HowToOpen::anew), so that nothing is believed of it.
Result<CheckReport> check(OpenTrace& trace, const CheckQuestion& question, const Work& work);

struct InfoQuestion {
  bool strict = false;  // the first problem is an error
  ImageOptions images;
};

struct TraceInfo {
  std::string path;
  std::string_view format, format_description;
  Catalog catalog;
  uint64_t records = 0;  // steps, frames and hooks
  uint64_t marks = 0;    // beside these, with numbers of their own
  uint64_t threads = 0;  // that events name; 0 = none does
  std::vector<TracedProcess> processes;  // the first of them
  uint64_t process_count = 0;
  std::vector<std::pair<std::string, std::string>> facts;  // what else its format knows
  std::vector<std::string> other_builds;                   // as other_builds() of images.h has them
  std::vector<LostPlace> lost;
  std::vector<Note> notes;
  const ProblemLog* problems = nullptr;  // the trace's own
};
/// Of a trace just opened at `path`, whose source it takes. Reads it to its end only where its
/// format does not know the counts.
Result<TraceInfo> info(OpenTrace& trace, const std::string& path, const InfoQuestion& question,
                       const Work& work);

}  // namespace tracewell::trace
