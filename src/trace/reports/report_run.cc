#include "trace/reports/report_run.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <time.h>

#include <fmt/format.h>

#include "base/text/text.h"
#include "filter/merge.h"
#include "trace/lost_files.h"

namespace tracewell::trace {
namespace {

constexpr long kWaitNs = 50'000'000;  // for more of a log that is followed

/// 0 = not known.
uint32_t number_fact(const Catalog& catalog, std::string_view key) {
  return static_cast<uint32_t>(parse_number(log_fact(catalog, key)).value_or(0));
}

class Part {
 public:
  explicit Part(ReportListener& listener) : listener_(listener) { listener_.part_begins(); }
  ~Part() { listener_.part_ends(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  ReportListener& listener_;
};

class ReportRun {
 public:
  ReportRun(const ReportTask& task, const report::Templates& templates,
            const report::ReportOptions& options, const Work& work, ReportListener& listener)
      : task_(task),
        templates_(templates),
        options_(options),
        work_(work),
        listener_(listener) {
    // Files that are reported one after the other are strangers to each other.
    options_.once = options_.once && task.merge;
    options_.stop = work.stop;
  }

  ReportOutcome all();

 private:
  Status part(std::span<ReportLog> logs, std::span<formats::HooklogFollow* const> follows);
  Status follow_files();
  Status read_files();
  Status events(report::Report& report, std::span<ReportLog> logs, filter::Merge& merge,
                std::span<formats::HooklogFollow* const> follows);
  Status round(report::Report& report, filter::Merge& merge, std::span<ReportLog> logs);
  void add_logs(report::Report& report, std::span<ReportLog> logs);
  void note_stop(const ReportLog& log);
  void wait_for_more() const;
  bool is_stopped(const hooks::LogName& name) const;
  void begin(report::Report& report, std::span<ReportLog> logs, std::optional<int64_t> first_ns);
  void tell_damage(report::Report& report, const ReportLog& log);
  /// Some events are left out: losses may be, and what was lost may be of the others.
  bool chooses() const {
    return !options_.filter.everything() || options_.from_ns || options_.to_ns;
  }

  const ReportTask& task_;
  const report::Templates& templates_;
  report::ReportOptions options_;
  const Work& work_;
  ReportListener& listener_;
  std::vector<LostEvents> lost_;  // by log
  bool begun_ = false;  // of the part that is at work
  bool several_owners_ = false;  // of all files, or of those that are merged
  std::set<uint32_t> stopped_;   // owners of whose logs nothing more is printed
  uint64_t parts_ = 0;
  ReportOutcome outcome_;
};

void ReportRun::begin(report::Report& report, std::span<ReportLog> logs,
                      std::optional<int64_t> first_ns) {
  if (std::exchange(begun_, true)) return;
  const std::string between = parts_++ == 0 ? "" : "\n";
  if (several_owners_ && logs.size() > 1) {
    for (size_t i = 0; i < logs.size(); ++i) logs[i].times_from_ns = report.began_ns(i);
    first_ns.reset();
  } else if (const auto began = report.began_ns(0)) {
    first_ns = began;
  }
  report.begin(task_.no_heading ? std::string() : between + report_heading(logs, first_ns));
}

/// A template said $STOP at an event of this log.
void ReportRun::note_stop(const ReportLog& log) {
  if (log.owner) stopped_.insert(*log.owner);
  if (several_owners_) listener_.stopped_by_template(log);
}

void ReportRun::wait_for_more() const {
  if (work_.is_stopped()) return;
  const timespec time{0, kWaitNs};
  nanosleep(&time, nullptr);
}

/// Of a file that was not opened yet.
bool ReportRun::is_stopped(const hooks::LogName& name) const {
  if (stopped_.empty()) return false;
  const auto owner = hooks::owner_of_log(name);
  return owner && stopped_.contains(*owner);
}

/// All that there is for now.
Status ReportRun::round(report::Report& report, filter::Merge& merge,
                        std::span<ReportLog> logs) {
  filter::Merge::Item item;
  while (!report.stopped() && merge.next(item)) {
    // Its source is asked for a thousand events at once, and a template may take long for each.
    if (work_.is_stopped()) return {Errc::Io, "interrupted"};
    if (!begun_ && !is_only_known(*item.event)) begin(report, logs, item.event->time_ns);
    if (report.stopped(item.source)) continue;
    lost_[item.source].look_at(*item.event);
    TW_RETURN_IF_ERROR(report.take(item.source, *item.event));
    if (report.stopped(item.source)) note_stop(logs[item.source]);
  }
  return {};
}

Status ReportRun::events(report::Report& report, std::span<ReportLog> logs, filter::Merge& merge,
                         std::span<formats::HooklogFollow* const> follows) {
  for (const ReportLog& log : logs) merge.add(*log.source);
  for (;;) {
    TW_RETURN_IF_ERROR(round(report, merge, logs));
    bool over = report.stopped();
    if (!over) {
      over = true;
      for (size_t i = 0; i < follows.size(); ++i)
        over = over && (follows[i]->over() || report.stopped(i));
    }
    if (over) return {};
    TW_RETURN_IF_ERROR(report.flush());
    TW_RETURN_IF_ERROR(listener_.flush());
    wait_for_more();
    for (size_t i = 0; i < follows.size(); ++i) merge.ask_again(i);
  }
}

void ReportRun::tell_damage(report::Report& report, const ReportLog& log) {
  const std::string line = damage_line(log);
  if (line.empty()) return;
  report.remark(line);
  outcome_.damaged = true;
}

void ReportRun::add_logs(report::Report& report, std::span<ReportLog> logs) {
  std::vector<std::optional<uint32_t>> owners;
  for (const ReportLog& log : logs) owners.push_back(log.owner);
  if (task_.merge || task_.follow) several_owners_ = hooks::are_several(owners);
  for (size_t i = 0; i < logs.size(); ++i) {
    const Catalog& catalog = logs[i].source->catalog();
    report::LogFacts facts;
    facts.name = logs[i].path;
    facts.component = log_fact(catalog, "component");
    facts.cpus = number_fact(catalog, "cpus");
    facts.traced_cpus = number_fact(catalog, "traced_cpus");
    report.add_log(catalog, std::move(facts), owners[i]);
  }
}

Status ReportRun::part(std::span<ReportLog> logs,
                       std::span<formats::HooklogFollow* const> follows) {
  // Not before: to open a file may take long, and nothing of a line is out that a stop could cut.
  const Part at_work(listener_);
  report::Report report(
      templates_, options_, [this](std::string_view text) { return listener_.write(text); },
      [this](const report::ReportRow& row) { return listener_.put(row); });
  add_logs(report, logs);
  filter::Merge merge;
  lost_.assign(logs.size(), {});
  for (size_t i = 0; i < logs.size(); ++i) lost_[i].begin(logs[i].source->catalog());
  begun_ = false;
  const Status written = events(report, logs, merge, follows);
  begin(report, logs, std::nullopt);
  // What came before an error is whole, and printed.
  for (const ReportLog& log : logs) {
    note_lost_bytes(log.trace.file.get(), *log.trace.problems);
    tell_damage(report, log);
  }
  TW_RETURN_IF_ERROR(report.finish());
  TW_RETURN_IF_ERROR(listener_.flush());  // a stop to come finds no line that it could cut
  for (size_t i = 0; i < logs.size(); ++i)
    listener_.read(logs[i], chooses() ? &lost_[i] : nullptr);
  outcome_.printed += report.printed();
  TW_RETURN_IF_ERROR(written);
  for (size_t i = 0; i < logs.size(); ++i) {
    if (merge.status(i).ok()) continue;
    Error error = merge.status(i).error();
    listener_.not_read(std::move(error).within(logs[i].path));
  }
  return {};
}

Status ReportRun::follow_files() {
  std::vector<ReportLog> logs;
  std::vector<formats::HooklogFollow*> follows;
  for (const auto& [path, found_in] : task_.logs) {
    listener_.opens(path);
    auto one = follow_log(path, work_);
    if (!one.ok()) {
      listener_.not_opened(one.error());
      continue;
    }
    logs.push_back(std::move(one->log));
    follows.push_back(one->follow);
    ++outcome_.opened;
  }
  return logs.empty() ? Status() : part(logs, follows);
}

Status ReportRun::read_files() {
  std::vector<ReportLog> logs;
  if (!task_.merge) several_owners_ = hooks::are_several(hooks::owners_of_logs(task_.logs));
  for (const hooks::LogName& name : task_.logs) {
    const std::string& path = name.path;
    if (is_stopped(name)) continue;
    listener_.opens(path);
    auto log = open_report_log(name, task_.input, work_);
    if (!log.ok()) {
      listener_.not_opened(log.error());
      continue;
    }
    if (!task_.has_templates && options_.form == report::Form::Text &&
        log->has_frames) {
      listener_.not_opened({Errc::InvalidArgument,
                            fmt::format("{} has frames of tracepoints, which templates alone can "
                                        "tell: -t FILE names them; print shows frames as they are",
                                        printable(path)),
                            {}});
      continue;
    }
    logs.push_back(*std::move(log));
    ++outcome_.opened;
    if (task_.merge) continue;
    TW_RETURN_IF_ERROR(part(logs, {}));
    logs.clear();
    if (work_.is_stopped()) break;
  }
  return logs.empty() ? Status() : part(logs, {});
}

ReportOutcome ReportRun::all() {
  outcome_.status = task_.follow ? follow_files() : read_files();
  return std::move(outcome_);
}

}  // namespace

ReportOutcome run_report(const ReportTask& task, const report::Templates& templates,
                         const report::ReportOptions& options, const Work& work,
                         ReportListener& listener) {
  return ReportRun(task, templates, options, work, listener).all();
}

}  // namespace tracewell::trace
