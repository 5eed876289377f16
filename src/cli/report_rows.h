// Events of a report for other programs: one a line, as JSON or CSV. docs/formats/trcfmt.md
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "report/report.h"

namespace tracewell::cli {

class ReportRows {
 public:
  /// Borrows the output.
  ReportRows(OutputFile& out, bool json) : out_(out), json_(json) {}

  /// The line before the first event; once.
  Status begin();
  Status put(const report::ReportRow& row);

 private:
  OutputFile& out_;
  bool json_;
  std::string line_;
};

}  // namespace tracewell::cli
