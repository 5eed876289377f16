#include "trace/step_trace.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "trace/images/image_names.h"
#include "trace/notes_file.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

constexpr size_t kThreadsNamed = 8;

Result<timeline::Timeline> open_timeline(const StepTrace& trace, const Work& work,
                                         const HowToOpen& how) {
  const StepIndex& steps = trace.steps();
  timeline::TimelineOptions wanted;
  wanted.build.work = work;
  // What is in memory as a whole is small enough to be indexed each time.
  const auto& sidecar = trace.trace.sidecar;
  std::vector<uint8_t> notes;
  if (trace.stored == nullptr && sidecar) {
    wanted.sidecar = sidecar->path;
    wanted.trace_changed_ns = sidecar->trace.facts.changed_ns;
    wanted.trace_file = sidecar->trace;
    wanted.damaged = [path = sidecar->path, work] {
      work.tell(fmt::format("{} is damaged; making it anew", printable(path)));
    };
    if (const ReaderNotes* const found = trace.source->reader_notes()) notes = found->notes();
    wanted.build.notes = notes;
    if (how.writes) how.writes(true);
  }
  const Bytes bytes = trace.trace.file->bytes();
  auto opened = timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
  if (how.writes) how.writes(false);
  if (opened.ok() || wanted.sidecar.empty() || opened.error().code != Errc::Io) return opened;
  work.tell(fmt::format("the index is not kept: {}", printable(opened.error().text())));
  wanted.sidecar.clear();
  return timeline::Timeline::open(steps, trace.catalog(), bytes, wanted);
}

}  // namespace

Result<StepTrace> open_step_trace(const InputOptions& options, const ImageOptions& images,
                                  const Work& work) {
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(options, work));
  TW_ASSIGN_OR_RETURN(AddressNames names, names_of_images(trace.source, images, work));
  TW_ASSIGN_OR_RETURN(StepTrace out, index_step_trace(std::move(trace), options, work));
  out.names = std::move(names);
  read_notes(out, options.path, work);
  return out;
}

Result<StepTrace> index_step_trace(OpenTrace trace, const InputOptions& options, const Work& work,
                                   const HowToOpen& how) {
  StepTrace out;
  TW_ASSIGN_OR_RETURN(static_cast<OpenSteps&>(out),
                      with_steps(std::move(trace), options, work));
  TW_ASSIGN_OR_RETURN(timeline::Timeline opened, open_timeline(out, work, how));
  out.timeline = std::make_unique<timeline::Timeline>(std::move(opened));
  return out;
}

void read_notes(StepTrace& trace, const std::string& path, const Work& work) {
  trace.notes = notes_of(trace.trace, path, trace.catalog().notes, work).notes;
}

Status check_thread(const StepTrace& trace, uint64_t tid) {
  const std::vector<uint64_t> all = trace.timeline->threads();
  if (std::ranges::find(all, tid) != all.end()) return {};
  if (all.empty())
    return {Errc::InvalidArgument, "the trace does not say which threads there were",
            failures::kNoSuchThread};
  std::string names;
  for (size_t i = 0; i < std::min(all.size(), kThreadsNamed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", all[i]);
  if (all.size() > kThreadsNamed) names += fmt::format(" and {} more", all.size() - kThreadsNamed);
  return {Errc::InvalidArgument,
          fmt::format("there is no thread {}; there {} {}", tid, all.size() == 1 ? "is" : "are",
                      names),
          failures::kNoSuchThread};
}

Status check_steps(const StepTrace& trace, uint64_t from, uint64_t to) {
  TW_RETURN_IF_ERROR(check_range(from, to));
  const uint64_t count = trace.timeline->steps();
  if (count == 0) return {Errc::NotFound, "the trace has no steps", failures::kNoSteps};
  if (from < count) return {};
  return {Errc::NotFound, fmt::format("--from {} is behind the last step, {}", from, count - 1),
          failures::kNoSuchStep};
}

Result<machine::RegisterPlace> named_register(const Catalog& catalog, std::string_view name) {
  const std::string_view bare = name.substr(name.starts_with('$') ? 1 : 0);
  if (auto place = machine::find_register(catalog.registers, bare)) return *std::move(place);
  return {Errc::InvalidArgument, fmt::format("this trace has no register {}", printable(name)),
          failures::kNoSuchRegister};
}

Status StepTrace::answers_hold() const {
  if (!timeline->damaged()) return {};
  return {Errc::Corrupt,
          "the index is damaged, and the trace could not be read again to make it anew: do not "
          "rely on these answers",
          failures::kIndexDamaged};
}

}  // namespace tracewell::trace
