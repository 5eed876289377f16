#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/time_text.h"
#include "render/event_text.h"
#include "render/info_report.h"

namespace tracewell::render {
namespace {

constexpr size_t kShown = 20;  // of what there may be many
constexpr uint64_t kSecondNs = 1'000'000'000;

std::string process_text(const trace::TracedProcess& one) {
  const Process& who = one.who;
  std::string out = who.pid != 0 ? fmt::format("pid {}", who.pid) : "pid not known";
  if (!who.image.empty()) out += ", " + printable(who.image);
  const std::string host = who.host.empty() ? "its machine" : printable(who.host);
  if (who.start_ns)
    out += fmt::format(", started {}.{:02} s after {} was booted", *who.start_ns / kSecondNs,
                       *who.start_ns % kSecondNs / (kSecondNs / 100), host);
  else if (!who.host.empty())
    out += ", on " + host;
  const auto place = [&out](std::string_view verb,
                            const std::optional<trace::TracedProcess::Place>& at) {
    if (!at) return;
    out += fmt::format(", {} before event {}", verb, at->event);
    if (at->time_ns) out += fmt::format(" ({})", time_text(*at->time_ns));
  };
  place("began", one.began);
  place("ended", one.ended);
  return out;
}

class InfoWriter {
 public:
  explicit InfoWriter(const trace::TraceInfo& info) : info_(info), catalog_(info.catalog) {}

  std::string write() {
    line("file", "{}", printable(info_.path));
    line("format", "{}, {}", info_.format, info_.format_description);
    line("machine", "{}, {} endian, {}-bit addresses", printable(catalog_.machine),
         catalog_.endian == Endian::Little ? "little" : "big", catalog_.address_bytes * 8);
    line("records", "{}{}", info_.records, and_marks(info_.marks));
    if (info_.threads != 0) line("threads", "{}", info_.threads);
    write_processes();
    for (const auto& [name, value] : info_.facts) line(name, "{}", printable(value));
    write_lost();
    if (catalog_.registers.size_bytes != 0)
      line("registers", "{} in blocks of {}", catalog_.registers.registers.size(),
           counted(catalog_.registers.size_bytes, "byte"));
    if (catalog_.status) write_status(*catalog_.status);
    for (const TracepointDef& one : catalog_.tracepoints) write_tracepoint(one);
    for (const VariableDef& one : catalog_.variables)
      line("variable", "{} ${}{}", one.number, printable(one.name),
           one.builtin ? ", builtin" : fmt::format(" = {} at first", one.initial_value));
    for (const Module& one : catalog_.modules) write_module(one);
    for (const std::string& one : info_.other_builds) line("image", "{}", one);
    write_notes();
    write_problems();
    return std::move(out_);
  }

 private:
  void write_module(const Module& one) {
    if (one.is_placed())
      line("module", "{:#x} {} (moved by {:#x})", one.start, printable(one.path), one.bias);
    else
      line("module", "{} (where it was is not known)", printable(one.path));
  }

  template <class... Args>
  void line(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), "{:<11}", label);
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  /// What was not reported is not mentioned.
  void write_counts(const RunStatus& status) {
    std::string frames = status.frames ? counted(*status.frames, "frame") + " kept" : "";
    if (status.frames_created)
      frames += status.frames ? fmt::format(" of {} created", *status.frames_created)
                              : counted(*status.frames_created, "frame") + " created";
    if (!frames.empty()) line("", "{}", frames);
    const std::string_view kind = status.circular.value_or(false) ? "circular " : "";
    if (!status.buffer_size && !status.buffer_free && kind.empty()) return;
    std::string buffer = fmt::format("{}buffer", kind);
    if (status.buffer_size) buffer += " of " + counted(*status.buffer_size, "byte");
    if (status.buffer_free)
      buffer += fmt::format(", {} free", status.buffer_size ? std::to_string(*status.buffer_free)
                                                            : counted(*status.buffer_free, "byte"));
    line("", "{}", buffer);
  }

  void write_status(const RunStatus& status) {
    line("status", "{}", stop_text(status));
    write_counts(status);
    auto moment = [this](std::string_view what, std::optional<uint64_t> time_us) {
      if (time_us && *time_us != 0 && *time_us < INT64_MAX / 1000)
        line("", "{} {}", what, time_text(static_cast<int64_t>(*time_us) * 1000));
    };
    moment("started", status.start_time_us);
    moment("stopped", status.stop_time_us);
    if (status.user_name && !status.user_name->empty())
      line("", "by {}", printable(*status.user_name));
    if (status.notes && !status.notes->empty()) line("", "note: {}", printable(*status.notes));
  }

  void write_tracepoint(const TracepointDef& one) {
    std::string text = fmt::format("{} at {:#x}", one.number, one.address);
    if (auto location = location_text(one); !location.empty())
      text += fmt::format(" ({})", location);
    if (one.fast_length) text += ", fast";
    if (one.is_static) text += ", static";
    if (!one.enabled) text += ", disabled";
    if (one.pass_count != 0) text += fmt::format(", pass count {}", one.pass_count);
    if (one.step_count != 0) text += fmt::format(", steps {}", one.step_count);
    if (one.usage)
      text += fmt::format(", {}, {} bytes", counted(one.usage->hits, "hit"), one.usage->bytes);
    line("tracepoint", "{}", text);
    for (const TracepointDef::Source& source : one.sources) {
      if (source.type == "cond") line("", "  if {}", printable(source.text));
      if (source.type == "cmd") line("", "  {}", printable(source.text));
    }
  }

  /// --where takes the pid, and the number of one of several.
  void write_processes() {
    const std::span all(info_.processes);
    if (info_.process_count == 1 && all.size() == 1)
      return line("process", "{}", process_text(all[0]));
    if (info_.process_count == 0) return;
    line("processes", "{}", info_.process_count);
    for (const trace::TracedProcess& one : all.first(std::min(kShown, all.size())))
      line("", "{}: {}", one.number, process_text(one));
    if (info_.process_count > kShown)
      line("", "… (--json has {})", all.size() < info_.process_count ? "more" : "them all");
  }

  void write_lost() {
    if (info_.lost.empty()) return;
    line("lost", "{}", trace::lost_count_text(info_.lost));
    const std::span all(info_.lost);
    for (const trace::LostPlace& place : all.first(std::min(kShown, all.size())))
      line("", "{}", trace::lost_place_text(place));
    if (info_.lost.size() > kShown) line("", "… (check lists them all)");
  }

  void write_notes() {
    if (info_.notes.empty()) return;
    line("notes", "{}", info_.notes.size());
    for (const Note& note : std::span(info_.notes).first(std::min(kShown, info_.notes.size())))
      line("", "{} {}", note.step, printable(note.text));
    if (info_.notes.size() > kShown) line("", "…");
  }

  void write_problems() {
    if (info_.problems->empty()) return line("problems", "none");
    // As `check` counts them, for whom a note is none.
    const uint64_t all = info_.problems->count();
    const uint64_t bad = info_.problems->count(Problem::Severity::Warning);
    line("problems", "{}{}", bad == 0 ? "none" : fmt::format("{}", bad),
         all == bad ? "" : fmt::format(", and {}", counted(all - bad, "note")));
    for (const Problem& problem : info_.problems->kept()) line("", "{}", problem_line(problem));
  }

  const trace::TraceInfo& info_;
  const Catalog& catalog_;
  std::string out_;
};

std::string tracepoint_text(const RunStatus& status) {
  if (status.stop_tracepoint == 0) return "a tracepoint";  // none has that number: not reported
  return fmt::format("tracepoint {}", status.stop_tracepoint);
}

}  // namespace

std::string stop_text(const RunStatus& status) {
  if (status.running) return "running";
  const std::string why = printable(status.stop_text);
  switch (status.stop) {
    case RunStatus::Stop::NotRun:
      return "not run";
    case RunStatus::Stop::Requested:
      return why.empty() ? "stopped by the user" : fmt::format("stopped by the user ({})", why);
    case RunStatus::Stop::BufferFull:
      return "stopped because the buffer was full";
    case RunStatus::Stop::Disconnected:
      return "stopped because the debugger went away";
    case RunStatus::Stop::PassCount:
      return "stopped by the pass count of " + tracepoint_text(status);
    case RunStatus::Stop::Failed:
      if (status.stop_tracepoint == 0 && !why.empty()) return fmt::format("stopped: {}", why);
      return fmt::format("stopped by an error at {}{}{}", tracepoint_text(status),
                         why.empty() ? "" : ": ", why);
    case RunStatus::Stop::Unknown:
      return why.empty() ? "not known" : fmt::format("cut off: {}", why);
  }
  return "not known";
}

std::string info_text(const trace::TraceInfo& info) {
  return InfoWriter(info).write();
}

}  // namespace tracewell::render
