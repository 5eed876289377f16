#include "timeline/build.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "timeline/seams.h"
#include "timeline/segment_builder.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kTaskStepsMin = 65536;
constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr unsigned kWorkersMax = 64;

/// A run of steps of one session, for one worker.
struct Task {
  uint64_t first = 0, end = 0, session = 0;
};

Status append(IndexSink& sink, Bytes bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kWriteBytes, bytes.size())))
    TW_RETURN_IF_ERROR(sink.append(bytes.first(std::min(kWriteBytes, bytes.size()))));
  return {};
}
Status append(IndexSink& sink, const Pieces& pieces) {
  for (const std::vector<uint8_t>& piece : pieces) TW_RETURN_IF_ERROR(append(sink, piece));
  return {};
}

std::vector<uint8_t> joined(const Pieces& pieces) {
  std::vector<uint8_t> out;
  for (const std::vector<uint8_t>& piece : pieces)
    out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

/// The first keyframe not less, or the number itself when there is none.
uint64_t at_keyframe(std::span<const uint64_t> keyframes, uint64_t step) {
  const auto found = std::lower_bound(keyframes.begin(), keyframes.end(), step);
  return found == keyframes.end() ? step : *found;
}

std::vector<Task> plan(const StepIndex& steps, uint64_t from, unsigned workers,
                       uint64_t segment_steps) {
  const uint64_t count = steps.count();
  const std::span<const uint64_t> sessions = steps.sessions();
  const uint64_t share = (count - from + workers - 1) / workers;
  const uint64_t most =
      std::min(segment_steps, std::max(share, std::min(kTaskStepsMin, segment_steps)));
  std::vector<Task> tasks;
  for (uint64_t at = from; at < count;) {
    const auto next = std::upper_bound(sessions.begin(), sessions.end(), at);
    const uint64_t session_end = next == sessions.end() ? count : std::min(*next, count);
    uint64_t end = session_end;
    if (end - at > most) end = std::min(end, at_keyframe(steps.keyframes(), at + most));
    tasks.push_back({at, end, static_cast<uint64_t>(next - sessions.begin())});
    at = end;
  }
  return tasks;
}

class IndexBuild {
 public:
  IndexBuild(const StepIndex& steps, const Catalog& catalog, const BuildOptions& options,
             IndexSink& sink)
      : steps_(steps), catalog_(catalog), options_(options), sink_(sink),
        sewn_(catalog.registers) {}

  /// Segments of which the rest is the continuation; first of all.
  Status take_over(const Segment& segment);
  Status run(std::vector<Task> tasks, unsigned workers);
  /// Seams, notes and directory.
  Status finish(const TraceIdentity& trace);

 private:
  struct Finished {
    SegmentPlace place;
    std::vector<SegmentBuilder::ThreadLook> looks;
  };

  void work();
  Status do_task(const Task& task);
  Status read_into(SegmentBuilder& builder, uint64_t first, uint64_t end);
  Status put(SegmentBuilder& builder, uint64_t first, uint64_t session);
  void tell(uint64_t steps);
  void sew();

  const StepIndex& steps_;
  const Catalog& catalog_;
  const BuildOptions& options_;
  IndexSink& sink_;
  std::vector<Task> tasks_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  uint64_t memory_each_ = 0;
  std::mutex mutex_;  // of what follows, and of the sink
  uint64_t done_ = 0;
  Status status_;
  std::map<uint64_t, Finished> waiting_;  // for those before them, by first step
  std::vector<SegmentPlace> places_;
  std::vector<Pieces> seams_;  // of each place
  Seams sewn_;
};

Status IndexBuild::run(std::vector<Task> tasks, unsigned workers) {
  tasks_ = std::move(tasks);
  workers = std::min<unsigned>(workers, static_cast<unsigned>(std::max<size_t>(tasks_.size(), 1)));
  memory_each_ = options_.memory_bytes / workers;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back([this] { work(); });
    work();
  }
  return std::move(status_);
}

void IndexBuild::work() {
  for (size_t i; (i = next_++) < tasks_.size() && !failed_;) {
    Status status = do_task(tasks_[i]);
    if (status.ok()) continue;
    failed_ = true;
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
}

/// A segment as a rule; more when memory runs out.
Status IndexBuild::do_task(const Task& task) {
  for (uint64_t first = task.first; first < task.end && !failed_;) {
    SegmentBuilder builder(catalog_);
    TW_RETURN_IF_ERROR(read_into(builder, first, task.end));
    const uint64_t count = builder.count();
    if (options_.stop != nullptr && *options_.stop)
      return Error{Errc::InvalidArgument, "the index was not finished: stopped", {}};
    if (count == 0 && !failed_)
      return Error{Errc::Corrupt, "the trace ends before its last step", {}};
    if (count != 0) TW_RETURN_IF_ERROR(put(builder, first, task.session));
    first += count;
  }
  return {};
}

Status IndexBuild::read_into(SegmentBuilder& builder, uint64_t first, uint64_t end) {
  std::unique_ptr<Source> source;
  {
    const std::lock_guard lock(mutex_);
    TW_ASSIGN_OR_RETURN(source, steps_.open_meaning_at(first));
  }
  Batch batch;
  uint64_t at = first;
  while (at < end && !failed_ && builder.size_bytes() < memory_each_ &&
         (options_.stop == nullptr || !*options_.stop)) {
    TW_ASSIGN_OR_RETURN(const bool more, source->next(batch));
    if (!more) break;
    const uint64_t before = at;
    for (const Event& event : batch.events()) {
      if (at == end) break;
      if (!std::holds_alternative<Step>(event.body)) continue;
      builder.add(event);
      ++at;
    }
    tell(at - before);
  }
  return {};
}

void IndexBuild::tell(uint64_t steps) {
  if (!options_.progress) return;
  const std::lock_guard lock(mutex_);
  options_.progress(done_ += steps);
}

Status IndexBuild::put(SegmentBuilder& builder, uint64_t first, uint64_t session) {
  Finished one;
  one.place.first = first;
  one.place.count = builder.count();
  one.place.session = session;
  one.looks = builder.thread_looks();
  Pieces pieces = builder.finish(one.place.sizes);
  SumWriter sums;
  for (const std::vector<uint8_t>& piece : pieces) sums.add(piece);
  pieces.push_back(sums.finish());
  const std::lock_guard lock(mutex_);
  one.place.offset = sink_.size();
  waiting_.emplace(first, std::move(one));
  sew();
  return append(sink_, pieces);
}

/// Those whose turn it is. What is compared is large, and not kept.
void IndexBuild::sew() {
  while (!waiting_.empty()) {
    const auto next = waiting_.begin();
    const uint64_t end = places_.empty() ? 0 : places_.back().first + places_.back().count;
    if (next->first != end) return;
    const Finished& one = next->second;
    sewn_.begin_session(one.place.session);
    places_.push_back(one.place);
    seams_.push_back(sewn_.seam(one.looks));
    for (const auto& look : one.looks) sewn_.take(look.tid, look.last);
    waiting_.erase(next);
  }
}

Status IndexBuild::take_over(const Segment& segment) {
  SegmentPlace place{segment.first, segment.count, segment.session, sink_.size(), {}, 0, 0, 0};
  sewn_.begin_session(segment.session);
  for (size_t i = 0; i < kParts; ++i) {
    place.sizes[i] = segment.parts[i].size();
    TW_RETURN_IF_ERROR(append(sink_, segment.parts[i]));
  }
  TW_RETURN_IF_ERROR(append(sink_, segment.sums->sums()));
  sewn_.take(segment.table(Part::Threads));
  places_.push_back(place);
  seams_.push_back({{segment.seams.begin(), segment.seams.end()}});
  return {};
}

Status IndexBuild::finish(const TraceIdentity& trace) {
  for (size_t i = 0; i < places_.size(); ++i) {
    places_[i].seams_offset = sink_.size();
    const std::vector<uint8_t> seams = joined(seams_[i]);
    places_[i].seams_bytes = seams.size();
    places_[i].seams_hash = index_hash(seams);
    TW_RETURN_IF_ERROR(append(sink_, seams));
  }
  const uint64_t notes_offset = sink_.size();
  TW_RETURN_IF_ERROR(append(sink_, options_.notes));
  const std::vector<uint8_t> directory = make_directory(places_, notes_offset, options_.notes);
  const uint64_t offset = sink_.size();
  TW_RETURN_IF_ERROR(append(sink_, directory));
  return sink_.rewrite_head(make_header(trace, offset, directory));
}

}  // namespace

Status build_index(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                   const Index* old, const BuildOptions& options, IndexSink& sink) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned workers = std::min(options.workers != 0 ? options.workers : cores, kWorkersMax);
  TW_RETURN_IF_ERROR(sink.append(std::vector<uint8_t>(kIndexHeaderBytes)));
  IndexBuild build(steps, catalog, options, sink);
  uint64_t from = 0;
  if (old != nullptr && !old->segments.empty() && old->steps() <= steps.count())
    for (size_t i = 0; i + 1 < old->segments.size(); ++i) {
      if (!old->segments[i].good()) break;
      TW_RETURN_IF_ERROR(build.take_over(old->segments[i]));
      from = old->segments[i].end();
    }
  TW_RETURN_IF_ERROR(
      build.run(plan(steps, from, workers, options.segment_steps), workers));
  return build.finish(trace);
}

}  // namespace tracewell::timeline

