// The report: events as lines of columns, rendered by templates, behind a heading; or as rows for
// other programs, as entries of bytes, or counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"
#include "report/columns.h"
#include "report/event_entry.h"
#include "report/fields.h"
#include "report/filter.h"
#include "report/processes.h"
#include "report/render/render.h"
#include "report/repeats.h"

namespace tracewell::report {

enum class Form : uint8_t {
  Text,
  Rows,    // a ReportRow for each event
  Raw,     // stored entries, raw_entry.h
  Counts,  // how many events each hook has
};

struct ReportOptions {
  Form form = Form::Text;
  bool column_heads = true;
  ColumnChoice columns;
  bool two_lines = false;   // the text in a line of its own, 4 columns and its level further right
  uint32_t page_lines = 0;  // the columns' heads again behind so many lines; 0 = never
  bool once = true;         // of events that several logs have alike, one
  bool count_cpus = false;  // a last line says how many processors the events were on
  ReportFilter filter;
  std::optional<int64_t> from_ns, to_ns;  // of the time since an owner's first event, inclusive
  uint64_t common_work = Renderer::kCommonWork;  // of a Renderer
  Renderer::Stop stop;  // then the event at work is left out, and none should be taken any more
};

/// What other programs want to know of an event. Lives as long as the call that gets it.
struct ReportRow {
  const Entry& entry;
  std::string_view log;
  std::optional<int64_t> time_ns;  // Unix epoch
  EventTimes times;
  bool has_template = false;
  std::string_view label;  // without an @
  std::string_view text;   // as in a report, label included
  std::span<const Field> fields;
};

/// The text of level APPL, SVC, KERN, INT begins 0, 8, 16, 24 columns behind the other columns, and
/// a template's further lines where its first begins. One thread at a time.
class Report {
 public:
  using Write = std::function<Status(std::string_view)>;
  using Rows = std::function<Status(const ReportRow&)>;

  /// Borrows the templates. `write` gets whole lines, `rows` what Form::Rows asks for.
  Report(const Templates& templates, ReportOptions options, Write write, Rows rows = {});

  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// Borrows the catalog. Returns the log's number, from 0. What an event decides for others that
  /// come behind it ($STOP, timers, what was printed already, where times begin, the instructions
  /// that all have in common), it decides for the logs of the same `owner` alone: whoever writes
  /// into one log changes nothing that is told of another owner's. A log without owner has all this
  /// for itself, but for instructions in common: those are of all logs that have none.
  size_t add_log(const Catalog& catalog, LogFacts facts, std::optional<uint64_t> owner = 0);
  /// Where times begin: the earliest of its owner's logs; nullopt where one of them does not say.
  std::optional<int64_t> began_ns(size_t log) const { return began_ns(logs_[log]->shared); }
  /// Before the first event, and before one with which times begin anew. `heading` is printed as it
  /// is; it ends with a newline.
  void begin(std::string_view heading);
  Status take(size_t log, const Event& event);
  /// A line that is not an event's; the text form alone has it.
  void remark(std::string_view line);
  /// Hands on what was printed so far.
  Status flush();
  /// Counts are printed now.
  Status finish();

  uint64_t printed() const { return printed_; }
  /// A template said $STOP at an event of this log's owner: nothing more of their logs is printed.
  bool stopped(size_t log) const { return logs_[log]->shared.stopped; }
  /// The same of all owners.
  bool stopped() const;
  /// How many errors of the data the lines show.
  uint64_t faults() const { return faults_; }

 private:
  /// What the logs of one owner have in common.
  struct Shared {
    Shared(std::optional<uint64_t> whose, const Templates& templates, const LogFacts& facts,
           TextBuffer& out, const ReportOptions& options)
        : owner(whose), renderer(templates, facts, out, options.stop, options.common_work) {}
    const std::optional<uint64_t> owner;
    Renderer renderer;
    Repeats repeats;
    std::optional<int64_t> first_ns, previous_ns;
    size_t logs = 0;
    bool stopped = false;
  };
  struct Log {
    Log(const Catalog& its_catalog, LogFacts its_facts, Shared& its_shared);
    const Catalog& catalog;
    Shared& shared;
    EventEntry entries;
    Processes processes;
    LogFacts facts;
  };
  Shared& shared_of(std::optional<uint64_t> owner);
  std::optional<int64_t> began_ns(const Shared& shared) const;
  void heads();
  bool wanted(const Entry& entry, const Event& event, size_t log);
  static EventTimes times_of(const Shared& shared, const Event& event);
  void line(Log& log, const Entry& entry, const TemplateInfo* info, const Event& event);
  Status row(Log& log, const Entry& entry, const TemplateInfo* info, const Event& event);
  void counts();
  bool ended(Shared& shared, Outcome outcome, const Event& event);

  const Templates& templates_;
  ReportOptions options_;
  Write write_;
  Rows rows_;
  Columns columns_;
  uint32_t width_;  // of the columns
  bool filters_;
  TextBuffer out_;
  const LogFacts no_facts_ = {};
  std::vector<std::unique_ptr<Shared>> shared_;
  std::vector<std::unique_ptr<Log>> logs_;
  std::vector<TextSpan> literals_;
  std::vector<uint64_t> counts_;  // by hook
  std::set<int32_t> cpus_;
  uint64_t printed_ = 0, faults_ = 0;
  uint32_t lines_on_page_ = 0;
};

/// The templates' hooks and labels, `001 TRACE ON`, one a line; a label's @ is left away.
std::string list_hooks(const Templates& templates);
/// 3 digits, or 4 when the last is not 0.
std::string hook_text(uint16_t hook);

}  // namespace tracewell::report
