#include "cli/step_trace.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "timeline/moment.h"
#include "timeline/step_store.h"

namespace tracewell::cli {
namespace {

constexpr uint64_t kReadOnMax = 256;  // steps that are cheaper to read than to jump over

/// The time of the last change; 0 when nobody knows.
int64_t changed_ns(const std::string& path) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(path, failed);
  if (failed) return 0;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

Result<timeline::Timeline> open_timeline(const StepTrace& trace, const InputOptions& options) {
  const StepIndex& steps = *trace.source->steps();
  Progress progress("indexing", steps.count());
  timeline::TimelineOptions wanted;
  wanted.build.progress = [&progress](uint64_t done) { progress.at(done); };
  // What is in memory as a whole is small enough to be indexed each time.
  if (trace.stored == nullptr && is_file(options.path)) {
    wanted.sidecar = options.path + ".tidx";
    wanted.trace_changed_ns = changed_ns(options.path);
  }
  const Bytes bytes = trace.trace.file->bytes();
  auto opened = timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
  if (opened.ok() || wanted.sidecar.empty() || opened.error().code != Errc::Io) return opened;
  fmt::print(stderr, "tracewell: the index is not kept: {}\n", printable(opened.error().text()));
  wanted.sidecar.clear();
  return timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
}

}  // namespace

Result<StepTrace> open_step_trace(const InputOptions& options) {
  StepTrace out;
  TW_ASSIGN_OR_RETURN(out.trace, open_trace(options));
  out.source = out.trace.source.get();
  if (out.source->steps() == nullptr) {
    auto stored = timeline::StepStore::read(*out.source);
    if (!stored) return std::move(stored).error().within(printable(options.path));
    out.stored = *std::move(stored);
    out.source = out.stored.get();
  }
  if (options.strict) TW_RETURN_IF_ERROR(out.trace.problems->strict());
  TW_ASSIGN_OR_RETURN(timeline::Timeline opened, open_timeline(out, options));
  out.timeline = std::make_unique<timeline::Timeline>(std::move(opened));
  tell_problems(out.trace, options.path);
  return out;
}

Result<const Event*> StepTrace::step(uint64_t seq) {
  while (!batch_.empty() && batch_.events().front().seq <= seq) {
    for (const Event& event : batch_.events())
      if (event.seq == seq && std::holds_alternative<Step>(event.body)) return &event;
    if (seq - batch_.events().back().seq > kReadOnMax) break;
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch_));
    if (!more) break;
  }
  return timeline::read_step(*source, seq, batch_);
}

std::string step_line(const Event& event) {
  const Step& step = std::get<Step>(event.body);
  std::string out = fmt::format("step {}  pc {:#x}  {}", event.seq, step.pc, to_hex(step.opcode));
  if (event.tid != 0) out += fmt::format("  thread {}", event.tid);
  return out;
}

}  // namespace tracewell::cli
