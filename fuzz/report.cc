// The whole report: a template file over the events of a log. The first eight bytes choose form,
// columns and filters; text up to the first NUL is the template file, what follows is the log. The
// same input must give the same report twice, and text and rows must have the same events.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/merge.h"
#include "format_fuzz.h"
#include "render/report_rows.h"
#include "report/report.h"

using namespace tracewell;

namespace {

constexpr size_t kChoiceBytes = 8;
// A template may print a megabyte for each event; more of the same finds nothing new.
constexpr uint64_t kTextMax = 4 << 20;
constexpr uint64_t kEventsMax = 2000;

/// One bit, from the first byte's lowest on.
bool choice(Bytes bytes, size_t bit) {
  return (bytes[bit / 8] >> bit % 8 & 1) != 0;
}

report::ReportFilter filter_of(Bytes bytes) {
  report::ReportFilter filter;
  if (choice(bytes, 24)) filter.hooks = {0x0010, 0x0100, 0x0020, 0x0200, 0x00a0};
  if (choice(bytes, 25)) filter.hooks.add(0x0100, 1);
  if (choice(bytes, 26)) filter.without_hooks = {0x0010, 0x0050, 0x0060};
  if (choice(bytes, 27)) filter.without_hooks.add(0x0100, 2);
  if (choice(bytes, 28)) filter.threads = {1, 1234, 1235};
  filter.threads_excluded = choice(bytes, 29);
  if (choice(bytes, 30)) filter.cpus = {0, 1};
  if (choice(bytes, 31)) filter.process_names = {"prog", "/bin/prog"};
  if (choice(bytes, 32)) filter.processes = {1234};
  if (choice(bytes, 33)) filter.after_ns = 1000;
  if (choice(bytes, 34)) filter.before_ns = int64_t{1} << bytes[5] % 63;
  return filter;
}

report::ReportOptions options_of(Bytes bytes) {
  report::ReportOptions options;
  options.form = static_cast<report::Form>(bytes[0] & 3);
  options.two_lines = choice(bytes, 2);
  options.column_heads = choice(bytes, 3);
  options.once = choice(bytes, 4);
  options.count_cpus = choice(bytes, 5);
  report::ColumnChoice& columns = options.columns;
  columns.ids = choice(bytes, 8);
  columns.log = choice(bytes, 9);
  columns.component = choice(bytes, 10);
  columns.process = choice(bytes, 11);
  columns.pid = choice(bytes, 12);
  columns.tid = choice(bytes, 13);
  columns.cpu = choice(bytes, 14);
  columns.color = choice(bytes, 15);
  columns.times = static_cast<report::Times>(bytes[2] & 3);
  options.page_lines = bytes[2] >> 2;
  options.filter = filter_of(bytes);
  if (choice(bytes, 35)) options.from_ns = bytes[6];
  if (choice(bytes, 36)) options.to_ns = int64_t{1} << bytes[6] % 63;
  return options;
}

struct Printed {
  uint64_t events = 0, bytes = 0;
  size_t hash = 0;
  bool whole = true;  // not cut for its length
};

class OneReport {
 public:
  OneReport(Bytes choices, Bytes log, const report::Templates& templates)
      : log_(log), templates_(templates), options_(options_of(choices)) {
    // What the bytes are of is said, or has to be seen.
    format_ = choice(choices, 37) ? "hooklog" : "";
    json_ = choice(choices, 38);
  }

  report::ReportOptions& options() { return options_; }
  /// Nothing is printed of what cannot be opened. The log is there `times` times.
  Printed print(size_t times);

 private:
  Bytes log_;
  const report::Templates& templates_;
  report::ReportOptions options_;
  std::string_view format_;
  bool json_ = false;
};

Printed OneReport::print(size_t times) {
  Printed out;
  auto nowhere = OutputFile::create("/dev/null");
  fuzz::require(nowhere.ok());
  render::ReportRows rows(*nowhere, json_, false);
  const auto see = [&out](std::string_view text) {
    out.bytes += text.size();
    out.hash = out.hash * 31 + std::hash<std::string_view>()(text);
  };
  report::Report report(
      templates_, options_,
      [&](std::string_view text) {
        see(text);
        return Status();
      },
      [&](const report::ReportRow& row) {
        see(row.text);
        see(row.label);
        for (const report::Field& field : row.fields) see(field.value);
        return rows.put(row);
      });
  std::vector<std::unique_ptr<fuzz::Opened>> logs;
  filter::Merge merge;
  for (size_t i = 0; i < times; ++i) {
    auto opened = fuzz::open(log_, format_);
    if (!opened) return out;
    report::LogFacts facts;
    facts.name = "log";
    facts.component = "part";
    facts.cpus = facts.traced_cpus = 2;
    report.add_log(opened->source->catalog(), std::move(facts));
    merge.add(*opened->source);
    logs.push_back(std::move(opened));
  }
  report.begin("heading\n");
  filter::Merge::Item item;
  uint64_t taken = 0;
  while (!report.stopped() && merge.next(item)) {
    if (out.bytes > kTextMax || ++taken > kEventsMax) {
      out.whole = false;
      break;
    }
    fuzz::require(report.take(item.source, *item.event).ok());
  }
  report.remark("remark");
  fuzz::require(report.finish().ok());
  out.events = report.printed();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kChoiceBytes) return 0;
  const Bytes choices(data, kChoiceBytes);
  const std::string_view input(reinterpret_cast<const char*>(data) + kChoiceBytes,
                               size - kChoiceBytes);
  const std::string_view source = input.substr(0, input.find('\0'));
  const Bytes log = as_bytes(input.substr(std::min(source.size() + 1, input.size())));

  static const report::Templates ours;  // compiled once: most inputs are small
  report::Templates templates = ours;
  templates.add("fuzz", source);
  templates.link();

  OneReport report(choices, log, templates);
  const Printed first = report.print(1);
  // One more report, if any: each costs as much as the first.
  switch (choices[4] >> 7 | (choices[5] & 1) << 1) {
    case 1: {
      const Printed again = report.print(1);
      fuzz::require(first.events == again.events && first.hash == again.hash);
      break;
    }
    case 2:
      report.print(2);
      break;
    case 3:
      if (report.options().form != report::Form::Text) break;
      report.options().form = report::Form::Rows;
      if (const Printed rows = report.print(1); first.whole && rows.whole)
        fuzz::require(rows.events == first.events);
      break;
    default:
      break;
  }
  return 0;
}
