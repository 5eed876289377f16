// Events of a report for other programs: one a line, as JSON or CSV. docs/formats/trcfmt.md
#pragma once

#include <string>

#include "base/files/file.h"
#include "base/result.h"
#include "report/report.h"

namespace tracewell::render {

class ReportRows {
 public:
  /// Borrows the output. `csv_safe`: formats/csv.h
  ReportRows(OutputFile& out, bool json, bool csv_safe)
      : out_(out), json_(json), csv_safe_(csv_safe) {}

  /// The line before the first event; once.
  Status begin();
  Status put(const report::ReportRow& row);

 private:
  OutputFile& out_;
  bool json_, csv_safe_;
  std::string line_;
};

}  // namespace tracewell::render
