// The work of `tracewell report`: events out of its inputs, through templates, to its output.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/report_logs.h"
#include "report/report.h"

namespace tracewell::cli {

struct ReportTask {
  std::vector<hooks::LogName> logs;
  trace::InputOptions input;  // without a path
  std::string output = "-";
  std::string format = "text";
  std::string hint;  // behind what is said where nothing was printed
  bool has_templates = false;
  bool merge = false, follow = false, no_heading = false, verbose = false, csv_safe = false;
};

/// Returns the exit status.
Result<int> run_report(const ReportTask& task, const report::Templates& templates,
                       const report::ReportOptions& options);

}  // namespace tracewell::cli
