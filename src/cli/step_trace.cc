#include "cli/step_trace.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/text.h"
#include "cli/image_names.h"
#include "cli/notes_file.h"
#include "cli/terminal.h"
#include "timeline/moment.h"
#include "timeline/step_store.h"

namespace tracewell::cli {
namespace {

constexpr size_t kThreadsNamed = 8;
constexpr uint64_t kReadOnMax = 256;  // steps that are cheaper to read than to jump over

Result<timeline::Timeline> open_timeline(const StepTrace& trace, const OpenWatch& watch) {
  const StepIndex& steps = *trace.source->steps();
  Progress progress("indexing", steps.count(), watch.lines);
  timeline::TimelineOptions wanted;
  wanted.build.stop = watch.stop;
  wanted.build.progress = [&progress](uint64_t done) { progress.at(done); };
  // What is in memory as a whole is small enough to be indexed each time.
  const auto& sidecar = trace.trace.sidecar;
  std::vector<uint8_t> notes;
  if (trace.stored == nullptr && sidecar) {
    wanted.sidecar = sidecar->path;
    wanted.trace_changed_ns = sidecar->trace.facts.changed_ns;
    wanted.trace_file = sidecar->trace;
    wanted.damaged = [path = sidecar->path] {
      fmt::print(stderr, "tracewell: {} is damaged; making it anew\n", printable(path));
    };
    if (const auto* noted = dynamic_cast<const formats::Noted*>(trace.source))
      notes = noted->notes();
    wanted.build.notes = notes;
    if (watch.writes != nullptr) *watch.writes = true;
  }
  const Bytes bytes = trace.trace.file->bytes();
  auto opened = timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
  if (watch.writes != nullptr) *watch.writes = false;
  if (opened.ok() || wanted.sidecar.empty() || opened.error().code != Errc::Io) return opened;
  fmt::print(stderr, "tracewell: the index is not kept: {}\n", printable(opened.error().text()));
  wanted.sidecar.clear();
  return timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
}

}  // namespace

Result<StepTrace> open_step_trace(const InputOptions& options, const ImageOptions& images) {
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(options));
  TW_ASSIGN_OR_RETURN(AddressNames names, names_of_images(trace.source, images));
  TW_ASSIGN_OR_RETURN(StepTrace out, index_step_trace(std::move(trace), options));
  out.names = std::move(names);
  return out;
}

Result<StepTrace> index_step_trace(OpenTrace trace, const InputOptions& options,
                                   const OpenWatch& watch) {
  StepTrace out;
  out.trace = std::move(trace);
  out.source = out.trace.source.get();
  if (out.source->steps() == nullptr) {
    auto stored = timeline::StepStore::read(*out.source);
    if (!stored) return std::move(stored).error().within(printable(options.path));
    out.stored = *std::move(stored);
    out.source = out.stored.get();
  }
  if (options.strict) TW_RETURN_IF_ERROR(out.trace.problems->strict());
  TW_ASSIGN_OR_RETURN(timeline::Timeline opened, open_timeline(out, watch));
  out.timeline = std::make_unique<timeline::Timeline>(std::move(opened));
  tell_problems(out.trace, options.path);
  out.notes = notes_of(out.trace, options.path, out.catalog().notes).notes;
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
  // Who goes backwards will want those before it, too.
  const uint64_t front = batch_.empty() ? 0 : batch_.events().front().seq;
  if (seq >= front || front - seq > kReadOnMax)
    return timeline::read_step(*source, seq, batch_);
  TW_RETURN_IF_ERROR(source->steps()->seek(front - std::min(front, kReadOnMax)));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch_));
    if (!more) return {Errc::Corrupt, "the trace ends before its last step"};
    for (const Event& event : batch_.events())
      if (event.seq == seq && std::holds_alternative<Step>(event.body)) return &event;
  }
}

Status check_thread(const StepTrace& trace, uint64_t tid) {
  const std::vector<uint64_t> all = trace.timeline->threads();
  if (std::ranges::find(all, tid) != all.end()) return {};
  if (all.empty())
    return {Errc::InvalidArgument, "the trace does not say which threads there were"};
  std::string names;
  for (size_t i = 0; i < std::min(all.size(), kThreadsNamed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", all[i]);
  if (all.size() > kThreadsNamed) names += fmt::format(" and {} more", all.size() - kThreadsNamed);
  return {Errc::InvalidArgument, fmt::format("there is no thread {}; there {} {}", tid,
                                             all.size() == 1 ? "is" : "are", names)};
}

Status check_steps(const StepTrace& trace, uint64_t from, uint64_t to) {
  TW_RETURN_IF_ERROR(check_range(from, to));
  const uint64_t count = trace.timeline->steps();
  if (count == 0) return {Errc::NotFound, "the trace has no steps"};
  if (from < count) return {};
  return {Errc::NotFound, fmt::format("--from {} is behind the last step, {}", from, count - 1)};
}

Result<machine::RegisterPlace> named_register(const Catalog& catalog, std::string_view name) {
  const std::string_view bare = name.substr(name.starts_with('$') ? 1 : 0);
  if (auto place = machine::find_register(catalog.registers, bare)) return *std::move(place);
  return {Errc::InvalidArgument, fmt::format("this trace has no register {}", printable(name))};
}

Status StepTrace::answers_hold() const {
  if (!timeline->damaged()) return {};
  return {Errc::Corrupt, "the index is damaged, and the trace could not be read again to make it "
                         "anew: do not rely on these answers"};
}

}  // namespace tracewell::cli
