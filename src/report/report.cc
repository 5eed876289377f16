#include "report/report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/raw_entry.h"

namespace tracewell::report {
namespace {

constexpr size_t kFlushAt = 64 * 1024;
constexpr uint32_t kSecondLineIndent = 4;

/// Times out of damaged data may lie too far apart.
int64_t between(int64_t from, int64_t to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

std::string_view shown_label(const TemplateInfo* info) {
  if (!info) return {};
  const std::string_view label = info->label;
  return label.substr(label.starts_with('@'));
}

}  // namespace

Report::Log::Log(const Catalog& its_catalog, LogFacts its_facts, Shared& its_shared)
    : catalog(its_catalog),
      shared(its_shared),
      entries(its_catalog),
      processes(its_catalog),
      facts(std::move(its_facts)) {
  facts.paths = &processes;
}

Report::Report(const Templates& templates, ReportOptions options, Write write, Rows rows)
    : templates_(templates),
      options_(std::move(options)),
      write_(std::move(write)),
      rows_(std::move(rows)),
      columns_(options_.columns),
      width_(columns_.width()),
      filters_(!options_.filter.everything()) {
  if (options_.form == Form::Counts) counts_.resize(65536);
}

Report::Shared& Report::shared_of(std::optional<uint64_t> owner) {
  const auto found =
      std::ranges::find(shared_, owner, [](const auto& one) { return one->owner; });
  const bool is_there = found != shared_.end();
  if (is_there && owner) return **found;
  Renderer* const work = is_there ? &(*found)->renderer : nullptr;
  shared_.push_back(std::make_unique<Shared>(owner, templates_, no_facts_, out_, options_));
  if (work) shared_.back()->renderer.share_work_of(*work);
  if (options_.form == Form::Rows) shared_.back()->renderer.note_literals(&literals_);
  return *shared_.back();
}

size_t Report::add_log(const Catalog& catalog, LogFacts facts, std::optional<uint64_t> owner) {
  Shared& shared = shared_of(owner);
  ++shared.logs;
  logs_.push_back(std::make_unique<Log>(catalog, std::move(facts), shared));
  return logs_.size() - 1;
}

std::optional<int64_t> Report::began_ns(const Shared& shared) const {
  std::optional<int64_t> out;
  for (const auto& log : logs_) {
    if (&log->shared != &shared) continue;
    const auto& one = log->catalog.began_ns;
    if (!one) return std::nullopt;
    out = std::min(out.value_or(*one), *one);
  }
  return out;
}

bool Report::stopped() const {
  return !shared_.empty() && std::ranges::all_of(shared_, &Shared::stopped);
}

void Report::begin(std::string_view heading) {
  for (const auto& shared : shared_) shared->first_ns = shared->previous_ns = began_ns(*shared);
  if (options_.form != Form::Text) return;
  out_.append(heading);
  if (options_.column_heads) heads();
}

void Report::heads() {
  columns_.heads(out_);
  if (options_.two_lines) out_.append("\n    ");
  Columns::levels(out_);
  lines_on_page_ = 0;
}

void Report::remark(std::string_view line) {
  if (options_.form != Form::Text) return;
  out_.append(line);
  out_.append('\n', 1);
}

bool Report::wanted(const Entry& entry, const Event& event, size_t log) {
  const bool has_time = event.time_ns.has_value();
  Shared& shared = logs_[log]->shared;
  // Elapsed time counts from TRACE ON, or from the first event, printed or not.
  if (has_time && !shared.first_ns) shared.first_ns = shared.previous_ns = event.time_ns;
  if (filters_ && !options_.filter.takes(entry, has_time)) return false;
  if (has_time && (options_.from_ns || options_.to_ns)) {
    const int64_t since = between(*shared.first_ns, entry.time_ns);
    if ((options_.from_ns && since < *options_.from_ns) ||
        (options_.to_ns && since > *options_.to_ns))
      return false;
  }
  return !options_.once || shared.logs < 2 || !has_time || !shared.repeats.again(log, entry);
}

EventTimes Report::times_of(const Shared& shared, const Event& event) {
  if (!event.time_ns) return {};
  return {true, between(*shared.first_ns, *event.time_ns),
          between(*shared.previous_ns, *event.time_ns)};
}

Status Report::take(size_t index, const Event& event) {
  Log& log = *logs_[index];
  if (log.shared.stopped) return {};
  log.processes.learn(event);
  if (is_only_known(event)) return {};
  const uint64_t pid = log.processes.of(event);
  Entry& entry = log.entries.make(event, static_cast<uint32_t>(pid));
  entry.pid = pid;
  entry.process_path = log.processes.last_path();
  if (!wanted(entry, event, index)) return {};
  if (options_.count_cpus && entry.cpu >= 0) cpus_.insert(entry.cpu);
  const TemplateInfo* info = templates_.find(entry.hook);
  if (info && info->reserved && !entry.facility) info = nullptr;
  switch (options_.form) {
    case Form::Text:
      log.shared.renderer.use(log.facts);
      line(log, entry, info, event);
      break;
    case Form::Rows:
      log.shared.renderer.use(log.facts);
      TW_RETURN_IF_ERROR(row(log, entry, info, event));
      break;
    case Form::Raw:
      put_raw_entry(entry, out_);
      ++printed_;
      break;
    case Form::Counts:
      ++counts_[entry.hook];
      ++printed_;
      break;
  }
  return out_.size() < kFlushAt ? Status() : flush();
}

/// Was anything printed?
bool Report::ended(Shared& shared, Outcome outcome, const Event& event) {
  faults_ += shared.renderer.faults();
  if (outcome == Outcome::Skipped) return false;
  if (event.time_ns) shared.previous_ns = event.time_ns;
  ++printed_;
  shared.stopped = outcome == Outcome::Stopped;
  return true;
}

void Report::line(Log& log, const Entry& entry, const TemplateInfo* info, const Event& event) {
  if (options_.page_lines != 0 && lines_on_page_ >= options_.page_lines) {
    out_.append('\n', 1);
    heads();
  }
  const uint32_t level =
      static_cast<uint32_t>(info ? info->level : Level::Kern) * kLevelWidth;
  const size_t begin = out_.size();
  columns_.row(out_, entry, log.facts, times_of(log.shared, event));
  uint32_t indent = width_ + level;
  if (options_.two_lines) {
    indent = kSecondLineIndent + level;
    out_.append('\n', 1);
    out_.append(' ', kSecondLineIndent);
  }
  out_.append(' ', level);
  if (!ended(log.shared, log.shared.renderer.render(entry, indent), event)) {
    out_.cut(begin);
    return;
  }
  out_.append('\n', 1);
  if (options_.page_lines != 0)
    lines_on_page_ += static_cast<uint32_t>(
        std::ranges::count(out_.text().substr(begin), '\n'));
}

Status Report::row(Log& log, const Entry& entry, const TemplateInfo* info, const Event& event) {
  literals_.clear();
  const EventTimes times = times_of(log.shared, event);
  const bool printed = ended(log.shared, log.shared.renderer.render(entry, 0), event);
  Status done;
  if (printed) {
    // The label is no field's name.
    const std::string_view label = shown_label(info);
    const std::string_view text = out_.text();
    const bool shown = info && !info->label.starts_with('@') && text.starts_with(label);
    const size_t begin = shown ? label.size() : 0;
    std::vector<TextSpan> words;
    for (const TextSpan& one : literals_)
      if (one.end > begin) words.push_back({std::max(one.begin, begin) - begin, one.end - begin});
    const std::vector<Field> fields =
        info ? fields_of(text.substr(begin), words) : std::vector<Field>();
    done = rows_({entry, log.facts.name, event.time_ns, times, info != nullptr, label, text,
                  fields});
  }
  out_.clear();
  return done;
}

void Report::counts() {
  for (size_t hook = 0; hook < counts_.size(); ++hook) {
    if (counts_[hook] == 0) continue;
    const TemplateInfo* info = templates_.find(static_cast<uint16_t>(hook));
    out_.append(fmt::format("{:<4}  {:>12}  {}\n", hook_text(static_cast<uint16_t>(hook)),
                            counts_[hook], info ? shown_label(info) : "-"));
  }
}

Status Report::flush() {
  if (out_.size() == 0) return {};
  const Status done = write_(out_.text());
  out_.clear();
  return done;
}

Status Report::finish() {
  if (options_.form == Form::Counts) {
    if (options_.column_heads) out_.append("ID           COUNT  LABEL\n\n");
    counts();
  }
  if (options_.count_cpus) remark(fmt::format("reported processors: {}", cpus_.size()));
  return flush();
}

std::string hook_text(uint16_t hook) {
  return (hook & 0xf) == 0 ? fmt::format("{:03X}", hook >> 4) : fmt::format("{:04X}", hook);
}

std::string list_hooks(const Templates& templates) {
  std::string text;
  for (const TemplateInfo* info : templates.list())
    text += fmt::format("{} {}\n", hook_text(info->hook), shown_label(info));
  return text;
}

}  // namespace tracewell::report
