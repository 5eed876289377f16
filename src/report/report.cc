#include "report/report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tracewell::report {
namespace {

constexpr size_t kFlushAt = 64 * 1024;
constexpr uint32_t kIdWidth = 4, kTidWidth = 7, kCpuWidth = 3, kLevelWidth = 8;

struct TimeWidths {
  uint32_t elapsed, delta;
};
TimeWidths widths_of(ReportOptions::Times times) {
  switch (times) {
    case ReportOptions::Times::Nanoseconds:
      return {16, 14};
    case ReportOptions::Times::Microseconds:
      return {13, 11};
    default:
      return {0, 0};
  }
}

template <class... Args>
void put(TextBuffer& out, fmt::format_string<Args...> format, Args&&... args) {
  constexpr size_t kLongest = 128;
  char* to = out.reserve(kLongest);
  const auto end = fmt::format_to_n(to, kLongest, format, std::forward<Args>(args)...);
  out.commit(std::min(end.size, kLongest));
}

/// Times out of damaged data may lie too far apart.
int64_t between(int64_t from, int64_t to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

/// `ns` as units of 10^`unit` ns with `digits` behind the point, right in `width`.
void put_time(TextBuffer& out, int64_t ns, unsigned unit, unsigned digits, uint32_t width) {
  static constexpr uint64_t kPowers[] = {1,      10,      100,      1000,      10000,
                                         100000, 1000000, 10000000, 100000000, 1000000000};
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const uint64_t whole = size / kPowers[unit];
  const uint64_t rest = size % kPowers[unit] / kPowers[unit - digits];
  char text[48];
  const auto end =
      fmt::format_to_n(text, sizeof text, "{}{}.{:0{}}", ns < 0 ? "-" : "", whole, rest, digits);
  if (end.size < width) out.append(' ', width - end.size);
  out.append({text, end.size});
}

}  // namespace

bool ReportFilter::takes(const Entry& entry) const {
  if (!hooks.empty() && !hooks.contains(entry.hook)) return false;
  if (without_hooks.contains(entry.hook)) return false;
  if (!threads.empty() && threads.contains(entry.tid) == threads_excluded) return false;
  return cpus.empty() || cpus.contains(entry.cpu);
}

Report::Report(const Templates& templates, ReportOptions options, LogFacts facts, Write write)
    : templates_(templates),
      options_(std::move(options)),
      facts_(std::move(facts)),
      write_(std::move(write)),
      renderer_(templates_, facts_, out_) {}

Status Report::begin(const Catalog& catalog) {
  entries_.emplace(catalog);
  out_.append(options_.heading);
  if (options_.column_heads) heads();
  return {};
}

void Report::heads() {
  const TimeWidths width = widths_of(options_.times);
  if (options_.ids) put(out_, "{:<{}}  ", "ID", kIdWidth);
  if (options_.tid) put(out_, "{:>{}}  ", "TID", kTidWidth);
  if (options_.cpu) put(out_, "{:>{}}  ", "CPU", kCpuWidth);
  if (width.elapsed != 0)
    put(out_, "{:>{}}  {:>{}}  ", "ELAPSED_SEC", width.elapsed, "DELTA_MSEC", width.delta);
  put(out_, "{:<{}}{:<{}}{:<{}}{}\n\n", "APPL", kLevelWidth, "SYSCALL", kLevelWidth, "KERNEL",
      kLevelWidth, "INTERRUPT");
}

uint32_t Report::column_width() const {
  const TimeWidths width = widths_of(options_.times);
  return (options_.ids ? kIdWidth + 2 : 0) + (options_.tid ? kTidWidth + 2 : 0) +
         (options_.cpu ? kCpuWidth + 2 : 0) +
         (width.elapsed != 0 ? width.elapsed + width.delta + 4 : 0);
}

Status Report::write(const Batch& batch) {
  for (const Event& one : batch.events()) {
    if (stopped_) break;
    event(one);
    if (out_.size() < kFlushAt) continue;
    TW_RETURN_IF_ERROR(write_(out_.text()));
    out_.clear();
  }
  return {};
}

void Report::event(const Event& event) {
  const Entry& entry = entries_->make(event);
  const bool has_time = event.time_ns.has_value();
  // Elapsed time counts from the first event, printed or not: TRACE ON, where there is one.
  if (has_time && !first_ns_) first_ns_ = previous_ns_ = event.time_ns;
  if (!options_.filter.takes(entry)) return;
  if (has_time) {
    const int64_t since = between(*first_ns_, entry.time_ns);
    if ((options_.from_ns && since < *options_.from_ns) ||
        (options_.to_ns && since > *options_.to_ns))
      return;
  }
  const TemplateInfo* info = templates_.find(entry.hook);
  if (info && info->reserved && !entry.facility) info = nullptr;
  const auto level = static_cast<uint32_t>(info ? info->level : Level::Kern) * kLevelWidth;

  const size_t line = out_.size();
  columns(entry, has_time);
  out_.append(' ', level);
  const Outcome outcome = renderer_.render(entry, column_width() + level);
  faults_ += renderer_.faults();
  if (outcome == Outcome::Skipped) {
    out_.cut(line);
    return;
  }
  out_.append('\n', 1);
  if (has_time) previous_ns_ = event.time_ns;
  ++printed_;
  stopped_ = outcome == Outcome::Stopped;
}

void Report::columns(const Entry& entry, bool has_time) {
  if (options_.ids) {
    const bool short_id = (entry.hook & 0xf) == 0;
    put(out_, "{:0{}X}{}  ", short_id ? entry.hook >> 4 : entry.hook, short_id ? 3 : 4,
        short_id ? " " : "");
  }
  if (options_.tid) put(out_, "{:>{}}  ", entry.tid, kTidWidth);
  if (options_.cpu) {
    if (entry.cpu >= 0)
      put(out_, "{:>{}}  ", entry.cpu, kCpuWidth);
    else
      put(out_, "{:>{}}  ", "-", kCpuWidth);
  }
  times(entry, has_time);
}

void Report::times(const Entry& entry, bool has_time) {
  const TimeWidths width = widths_of(options_.times);
  if (width.elapsed == 0) return;
  if (!has_time) {
    put(out_, "{:>{}}  {:>{}}  ", "-", width.elapsed, "-", width.delta);
    return;
  }
  const bool fine = options_.times == ReportOptions::Times::Nanoseconds;
  put_time(out_, between(*first_ns_, entry.time_ns), 9, fine ? 9 : 6, width.elapsed);
  out_.append(' ', 2);
  put_time(out_, between(*previous_ns_, entry.time_ns), 6, fine ? 6 : 3, width.delta);
  out_.append(' ', 2);
}

Status Report::finish() {
  if (out_.size() == 0) return {};
  const Status done = write_(out_.text());
  out_.clear();
  return done;
}

std::string hook_text(uint16_t hook) {
  return (hook & 0xf) == 0 ? fmt::format("{:03X}", hook >> 4) : fmt::format("{:04X}", hook);
}

std::string list_hooks(const Templates& templates) {
  std::string text;
  for (const TemplateInfo* info : templates.list()) {
    const std::string_view label = info->label;
    text += fmt::format("{} {}\n", hook_text(info->hook), label.substr(label.starts_with('@')));
  }
  return text;
}

}  // namespace tracewell::report
