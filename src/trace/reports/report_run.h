// A report: events out of its inputs, through templates, to whoever listens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hooks/log/log_owner.h"
#include "model/work.h"
#include "report/report.h"
#include "trace/file.h"
#include "trace/lost_events.h"
#include "trace/reports/report_log.h"

namespace tracewell::trace {

struct ReportTask {
  std::vector<hooks::LogName> logs;
  InputOptions input;  // without a path
  bool has_templates = false;
  bool merge = false, follow = false, no_heading = false;
};

/// What a report says, in the order in which it happens. Called by the thread that runs it.
class ReportListener {
 public:
  virtual ~ReportListener() = default;
  virtual Status write(std::string_view text) = 0;
  virtual Status put(const report::ReportRow& row) = 0;
  /// What was written is to be seen now: there is nothing more for a while, or at all.
  virtual Status flush() = 0;

  /// One of the inputs is about to be opened. One that is not there, or cannot be read, or not to
  /// its end, is told; others are reported all the same.
  virtual void opens(const std::string& path) = 0;
  virtual void not_opened(const Error& why) = 0;
  virtual void not_read(const Error& why) = 0;
  /// Events are read from here on, and written: until it ends, a stop is to come between two lines.
  virtual void part_begins() = 0;
  virtual void part_ends() = 0;
  /// A template said $STOP at an event of this log, while logs of several users are reported.
  virtual void stopped_by_template(const ReportLog& log) = 0;
  /// The log is read, and its problems are known. `lost`: what it has lost of events that might
  /// have been chosen; nullptr where all events are.
  virtual void read(const ReportLog& log, const LostEvents* lost) = 0;
};

struct ReportOutcome {
  Status status;  // of the output, or Io: stopped. What was printed before is whole.
  size_t opened = 0;
  uint64_t printed = 0;  // events
  bool damaged = false;
};

/// Without a template, rows or raw entries are what `options` says.
ReportOutcome run_report(const ReportTask& task, const report::Templates& templates,
                         const report::ReportOptions& options, const Work& work,
                         ReportListener& listener);

}  // namespace tracewell::trace
