// The report: events as lines of columns, rendered by templates, behind a heading.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/stream.h"
#include "report/event_entry.h"
#include "report/render.h"

namespace tracewell::report {

/// Which events a report has: those for which all that is given holds.
struct ReportFilter {
  std::set<uint16_t> hooks, without_hooks;  // four digits; empty = all, none
  std::set<uint64_t> threads;
  bool threads_excluded = false;  // `threads` are those that are left out
  std::set<int32_t> cpus;

  bool takes(const Entry& entry) const;
};

struct ReportOptions {
  /// Times are seconds since the first event or TRACE ON, and milliseconds since the event printed
  /// before it.
  enum class Times : uint8_t { Nanoseconds, Microseconds, None };

  std::string heading;  // printed first, as it is; ends with a newline
  bool column_heads = true;
  bool ids = true, tid = false, cpu = false;
  Times times = Times::Nanoseconds;
  ReportFilter filter;
  std::optional<int64_t> from_ns, to_ns;  // of the time since the first event, both inclusive
};

/// Columns are separated by two blanks and as wide as their heads and widest usual contents, so
/// that they do not move. The text of level APPL, SVC, KERN, INT begins 0, 8, 16, 24 columns
/// further right, and a template's further lines where its first begins.
class Report : public Sink {
 public:
  using Write = std::function<Status(std::string_view)>;

  /// Borrows the templates. `write` gets whole lines.
  Report(const Templates& templates, ReportOptions options, LogFacts facts, Write write);

  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  Status begin(const Catalog& catalog) override;
  Status write(const Batch& batch) override;
  Status finish() override;

  uint64_t printed() const { return printed_; }
  /// A template said $STOP: nothing more will be printed.
  bool stopped() const { return stopped_; }
  /// How many errors of the data the lines show.
  uint64_t faults() const { return faults_; }

 private:
  void heads();
  void columns(const Entry& entry, bool has_time);
  void times(const Entry& entry, bool has_time);
  void event(const Event& event);
  uint32_t column_width() const;

  const Templates& templates_;
  ReportOptions options_;
  LogFacts facts_;
  Write write_;
  TextBuffer out_;
  Renderer renderer_;
  std::optional<EventEntry> entries_;
  std::optional<int64_t> first_ns_, previous_ns_;
  uint64_t printed_ = 0, faults_ = 0;
  bool stopped_ = false;
};

/// The templates' hooks and labels, `001 TRACE ON`, one a line; a label's @ is left away.
std::string list_hooks(const Templates& templates);
/// 3 digits, or 4 when the last is not 0.
std::string hook_text(uint16_t hook);

}  // namespace tracewell::report
