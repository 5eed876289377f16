#include "trace/questions/check.h"

#include <optional>
#include <unordered_set>
#include <variant>

#include <fmt/format.h>

#include "trace/images/image_code.h"
#include "trace/images/image_modules.h"
#include "trace/lost_files.h"
#include "trace/notes_file.h"
#include "trace/selection.h"

namespace tracewell::trace {
namespace {

/// What holds between events and catalog, beyond what the reader saw.
class Invariants {
 public:
  Invariants(const Catalog& catalog, ProblemLog& problems) : problems_(problems) {
    for (const TracepointDef& one : catalog.tracepoints)
      tracepoints_.insert(static_cast<int64_t>(one.number));
  }

  void look_at(const Event& event) {
    const auto* frame = std::get_if<Frame>(&event.body);
    if (!frame || tracepoints_.contains(frame->tracepoint)) return;
    if (!told_.insert(frame->tracepoint).second) return;
    problems_.add({std::nullopt, Problem::Severity::Note, "no-definition",
                   fmt::format("event {} belongs to tracepoint {}, which is not defined", event.seq,
                               frame->tracepoint)});
  }

 private:
  ProblemLog& problems_;
  std::unordered_set<int64_t> tracepoints_;
  std::unordered_set<int64_t> told_;
};

struct Counts {
  uint64_t events = 0, marks = 0;
  bool steps = false;
  std::unordered_set<uint64_t> threads;
  LostEvents lost;

  void look_at(const Event& event) {
    if (event.tid != 0) threads.insert(event.tid);
    lost.look_at(event);
    steps |= std::holds_alternative<Step>(event.body);
    if (std::holds_alternative<Mark>(event.body))
      ++marks;
    else if (!std::holds_alternative<Lost>(event.body) &&
             !std::holds_alternative<Change>(event.body))
      ++events;
  }
};

}  // namespace

Result<CheckReport> check(OpenTrace& trace, const CheckQuestion& question, const Work& work) {
  ProblemLog& problems = *trace.problems;
  if (question.images.any()) {
    TW_ASSIGN_OR_RETURN(const symbols::ImageMap images,
                        place_images(trace.source->catalog(), question.images, work));
    trace.source = with_checked_code(std::move(trace.source), images, work);
  }
  Invariants invariants(trace.source->catalog(), problems);
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<Source> source,
      select_events(std::move(trace.source), {}, problems, false, "checking", work));
  Batch batch;
  Counts counts;
  counts.lost.begin(source->catalog());
  while (!question.first_problem || CheckReport::is_sound(problems)) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) break;
    for (const Event& event : batch.events()) {
      invariants.look_at(event);
      counts.look_at(event);
    }
  }
  note_lost_bytes(trace.file.get(), *trace.problems);
  return CheckReport{counts.events, counts.marks, counts.steps, counts.lost.places()};
}

Result<TraceInfo> info(OpenTrace& trace, const std::string& path, const InfoQuestion& question,
                       const Work& work) {
  TraceInfo out;
  out.path = path;
  out.format = trace.format->name;
  out.format_description = trace.format->description;
  out.catalog = trace.source->catalog();
  out.notes = notes_of(trace, path, work).notes;
  symbols::ImageMap images;
  if (question.images.any()) {
    TW_ASSIGN_OR_RETURN(images, place_images(out.catalog, question.images, work));
    out.other_builds = other_builds(out.catalog, images, question.images);
    add_image_modules(out.catalog, images, work);
  }
  TracedProcesses processes;
  processes.begin(trace.source->catalog());
  const Summary* const summary = trace.source->summary();
  if (const Seekable* const index = trace.source->seekable(); index && summary) {
    out.records = index->count();
    out.threads = summary->thread_count();
    out.facts = summary->facts();
    if (!images.images().empty()) check_code(*trace.source, images, work);
  } else {
    trace.source = with_checked_code(std::move(trace.source), images, work);
    TW_ASSIGN_OR_RETURN(std::unique_ptr<Source> source,
                        select_events(std::move(trace.source), {}, *trace.problems,
                                      question.strict, "counting", work));
    Batch batch;
    Counts counts;
    counts.lost.begin(source->catalog());
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
      if (!more) break;
      for (const Event& event : batch.events()) {
        counts.look_at(event);
        processes.look_at(event);
      }
    }
    out.records = counts.events;
    out.marks = counts.steps ? 0 : counts.marks;
    out.threads = counts.threads.size();
    out.lost = counts.lost.places();
  }
  out.processes = processes.list();
  out.process_count = processes.count();
  note_lost_bytes(trace.file.get(), *trace.problems);
  out.problems = trace.problems.get();
  return out;
}

}  // namespace tracewell::trace
