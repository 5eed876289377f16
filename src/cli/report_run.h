// The output of `tracewell report`: where it goes, what is told beside it, and the exit status.
#pragma once

#include <string>

#include "base/result.h"
#include "report/report.h"
#include "trace/reports/report_run.h"

namespace tracewell::cli {

struct ReportOutput {
  std::string path = "-";
  std::string format = "text";
  std::string hint;  // behind what is said where nothing was printed
  bool csv_safe = false, verbose = false;
};

/// Returns the exit status.
Result<int> run_report(const trace::ReportTask& task, const ReportOutput& output,
                       const report::Templates& templates, const report::ReportOptions& options);

}  // namespace tracewell::cli
