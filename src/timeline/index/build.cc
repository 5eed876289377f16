#include "timeline/index/build.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <variant>

#include "base/process/thread.h"
#include "timeline/calls/call_marks.h"
#include "timeline/index/seams.h"
#include "timeline/index/segment_builder.h"

namespace tracewell::timeline {
namespace {

constexpr uint64_t kTaskStepsMin = 65536;
constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr unsigned kWorkersMax = 64;
// What segments may have of the trace's size, and what notes may have of it besides, in 1000; the
// rest is for sums and the directory.
constexpr uint64_t kShare = 240;
constexpr uint64_t kSmallTrace = 64 << 10;  // here nobody saves anything
constexpr uint64_t kMarksShare = 4;  // of transfers' size their marks take a part of this at most

/// A run of steps, for one worker.
struct Task {
  uint64_t first = 0, end = 0;
};

struct Session {
  uint64_t first = 0, end = 0, number = 0;
};
Session session_of(const StepIndex& steps, uint64_t step) {
  const std::span<const uint64_t> firsts = steps.sessions();
  const auto next = std::upper_bound(firsts.begin(), firsts.end(), step);
  return {next == firsts.begin() ? 0 : *(next - 1),
          next == firsts.end() ? steps.count() : std::min(*next, steps.count()),
          static_cast<uint64_t>(next - firsts.begin())};
}

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
  const uint64_t share = (count - from + workers - 1) / workers;
  const uint64_t most =
      std::min(segment_steps, std::max(share, std::min(kTaskStepsMin, segment_steps)));
  std::vector<Task> tasks;
  for (uint64_t at = from; at < count;) {
    uint64_t end = count;
    if (count - at > most) {
      end = std::min(count, at_keyframe(steps.keyframes(), at + most));
      const Session last = session_of(steps, end - 1);
      // Nobody divides a session that can be had whole.
      if (last.first > at && last.end != end && last.end - last.first <= most) end = last.first;
    }
    tasks.push_back({at, end});
    at = end;
  }
  return tasks;
}

/// Steps that a worker reads; it jumps where that is wanted.
struct Reading {
  std::unique_ptr<Source> source;
  Batch batch;
  size_t used = 0;      // events of the batch
  uint64_t next_seq = 0;
};

class IndexBuild {
 public:
  IndexBuild(const StepIndex& steps, const Catalog& catalog, const BuildOptions& options,
             uint64_t trace_bytes, IndexSink& sink)
      : steps_(steps),
        catalog_(catalog),
        options_(options),
        trace_bytes_(trace_bytes),
        sink_(sink),
        stage_(options.work.stage("indexing", steps.count())) {
    if (options.small && trace_bytes >= kSmallTrace)
      room_ = trace_bytes / 1000 * kShare - std::min<uint64_t>(trace_bytes / 5,
                                                               options.notes.size());
  }

  /// The segments of which the rest is the continuation; first of all. `damaged` is told by them.
  /// False: nobody has built them, and nothing can go on behind them.
  Result<bool> take_over(std::span<const Segment> segments, const std::atomic<bool>& damaged);
  Status run(std::vector<Task> tasks, unsigned workers);
  /// Seams, notes and directory.
  Status finish(const TraceIdentity& trace);

 private:
  struct Finished {
    SegmentPlace place;
    std::vector<SegmentBuilder::ThreadSpan> threads;
    std::optional<std::pair<uint32_t, uint32_t>> losses;
    std::vector<uint8_t> transfers;  // the table
    uint64_t reserved = 0;           // bytes, for its call marks
  };

  bool stopped() const { return options_.work.is_stopped(); }
  static Error stopped_error() {
    return {Errc::Stopped, "the index was not finished: stopped", {}};
  }
  void work();
  Status do_task(const Task& task);
  Status go_to(Reading& reading, uint64_t seq, bool begins);
  Status read_into(SegmentBuilder& builder, Reading& reading, uint64_t end);
  Status put(SegmentBuilder& builder, uint64_t first, const Session& session);
  void tell(uint64_t steps);
  Status sew();
  Status put_marks(const Pieces& marks, SegmentPlace& place);
  Status put_over(const Segment& segment, const Pieces& marks);
  void leave_out(std::vector<Pieces>& parts, SegmentPlace& place, uint64_t reserved);

  const StepIndex& steps_;
  const Catalog& catalog_;
  const BuildOptions& options_;
  const uint64_t trace_bytes_;
  IndexSink& sink_;
  std::vector<Task> tasks_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  uint64_t memory_each_ = 0;
  std::mutex mutex_;  // of what follows, and of the sink
  const std::unique_ptr<Stage> stage_;
  uint64_t done_ = 0;
  Status status_;
  std::map<uint64_t, Finished> waiting_;  // for those before them, by first step
  std::vector<SegmentPlace> places_;
  std::optional<uint64_t> room_;             // bytes, for all segments
  uint64_t used_ = 0, indexed_steps_ = 0;    // by those that are done
  Seams seams_;
  CallMarksWriter call_marks_;
};

Status IndexBuild::run(std::vector<Task> tasks, unsigned workers) {
  tasks_ = std::move(tasks);
  workers = std::min<unsigned>(workers, static_cast<unsigned>(std::max<size_t>(tasks_.size(), 1)));
  memory_each_ = options_.work.memory_bytes / workers;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < workers; ++i) {
      auto thread = start_thread<std::jthread>([this] { work(); });
      if (!thread) break;  // with those that there are, then
      threads.push_back(*std::move(thread));
    }
    work();
  }
  return std::move(status_);
}

void IndexBuild::work() {
  for (size_t i; (i = next_++) < tasks_.size() && !failed_;) {
    Status status = with_memory_bounded([&] { return do_task(tasks_[i]); });
    if (status.ok()) continue;
    failed_ = true;
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
}

/// A segment for each session as a rule; more when memory runs out.
Status IndexBuild::do_task(const Task& task) {
  Reading reading;
  for (uint64_t first = task.first; first < task.end && !failed_;) {
    const Session session = session_of(steps_, first);
    const bool begins = first == session.first;
    SegmentBuilder builder(catalog_, begins);
    TW_RETURN_IF_ERROR(go_to(reading, first, begins));
    TW_RETURN_IF_ERROR(read_into(builder, reading, std::min(task.end, session.end)));
    const uint64_t count = builder.count();
    if (stopped()) return stopped_error();
    if (count == 0 && !failed_)
      return Error{Errc::Corrupt, "the trace ends before its last step", {}};
    if (count != 0) TW_RETURN_IF_ERROR(put(builder, first, session));
    first += count;
  }
  return {};
}

/// To where threads tell everything: it needs a jump, but for the begin of a session.
Status IndexBuild::go_to(Reading& reading, uint64_t seq, bool begins) {
  if (reading.source && reading.next_seq == seq && begins) return {};
  reading.next_seq = seq;
  reading.batch.clear();
  reading.used = 0;
  const std::lock_guard lock(mutex_);
  TW_ASSIGN_OR_RETURN(reading.source, steps_.open_meaning_at(seq));
  return {};
}

Status IndexBuild::read_into(SegmentBuilder& builder, Reading& reading, uint64_t end) {
  while (true) {
    const uint64_t before = reading.next_seq;
    for (; reading.used < reading.batch.size(); ++reading.used) {
      const Event& event = reading.batch.events()[reading.used];
      if (std::holds_alternative<Lost>(event.body)) builder.lose();
      if (!std::holds_alternative<Step>(event.body)) continue;
      if (reading.next_seq == end) break;
      builder.add(event);
      ++reading.next_seq;
    }
    tell(reading.next_seq - before);
    if (failed_ || stopped()) return {};
    // Behind the last step of all, something may be lost.
    const bool at_end = reading.next_seq == steps_.count() && reading.used == reading.batch.size();
    if (!at_end && (reading.next_seq == end || builder.size_bytes() >= memory_each_)) return {};
    TW_ASSIGN_OR_RETURN(const bool more, reading.source->next(reading.batch));
    reading.used = 0;
    if (!more) return {};
  }
}

void IndexBuild::tell(uint64_t steps) {
  if (steps == 0) return;
  const std::lock_guard lock(mutex_);
  stage_->at(done_ += steps);
}

Status IndexBuild::put(SegmentBuilder& builder, uint64_t first, const Session& session) {
  Finished one;
  one.place.first = first;
  one.place.count = builder.count();
  one.place.session = session.number;
  one.threads = builder.thread_spans();
  one.losses = builder.losses();
  if (one.losses) one.place.loss_end = uint64_t{one.losses->second} + 1;
  std::vector<Pieces> parts = builder.finish(first + builder.count() == session.end);
  for (size_t i = 0; i < kParts; ++i) one.place.sizes[i] = size_of(parts[i]);
  one.transfers = joined(parts[static_cast<size_t>(Part::Transfers)]);
  one.reserved = one.transfers.size() / kMarksShare;
  leave_out(parts, one.place, one.reserved);
  SumWriter sums;
  Pieces pieces;
  for (Pieces& part : parts) std::move(part.begin(), part.end(), std::back_inserter(pieces));
  for (const std::vector<uint8_t>& piece : pieces) sums.add(piece);
  pieces.push_back(sums.finish());
  const std::lock_guard lock(mutex_);
  one.place.offset = sink_.size();
  waiting_.emplace(first, std::move(one));
  TW_RETURN_IF_ERROR(append(sink_, pieces));
  return sew();
}

/// The largest ones, until there is room. Others that took less before make some.
void IndexBuild::leave_out(std::vector<Pieces>& parts, SegmentPlace& place, uint64_t reserved) {
  const std::lock_guard lock(mutex_);
  const auto size = [&] {
    const uint64_t all = std::accumulate(place.sizes.begin(), place.sizes.end(), uint64_t{0});
    return all + sums_size(all) + reserved;
  };
  indexed_steps_ += place.count;
  while (room_) {
    const double share = static_cast<double>(indexed_steps_) / static_cast<double>(steps_.count());
    if (static_cast<double>(used_ + size()) <= static_cast<double>(*room_) * share) break;
    const auto largest = static_cast<size_t>(
        std::max_element(place.sizes.begin(), place.sizes.end()) - place.sizes.begin());
    if (place.sizes[largest] == 0) break;
    place.left_out |= static_cast<uint8_t>(1u << largest);
    place.sizes[largest] = 0;
    parts[largest].clear();
  }
  used_ += size();
}

/// Those whose turn it is.
Status IndexBuild::sew() {
  while (!waiting_.empty()) {
    const auto next = waiting_.begin();
    const uint64_t end = places_.empty() ? 0 : places_.back().first + places_.back().count;
    if (next->first != end) return {};
    Finished& one = next->second;
    seams_.begin_session(one.place.session);
    one.place.opened = seams_.take(one.place.first, one.threads, one.losses);
    call_marks_.begin_session(one.place.session);
    const auto marks = call_marks_.take(one.place.first, one.threads, one.place.loss_end,
                                        StreamTable(one.transfers));
    TW_CHECK(marks);
    used_ -= one.reserved;
    TW_RETURN_IF_ERROR(put_marks(*marks, one.place));
    places_.push_back(one.place);
    waiting_.erase(next);
  }
  return {};
}

/// Without the transfers they are of no use.
Status IndexBuild::put_marks(const Pieces& marks, SegmentPlace& place) {
  if ((place.left_out >> static_cast<size_t>(Part::Transfers) & 1) != 0) return {};
  place.marks_offset = sink_.size();
  place.marks_bytes = size_of(marks);
  used_ += place.marks_bytes + sums_size(place.marks_bytes);
  SumWriter sums;
  for (const std::vector<uint8_t>& piece : marks) sums.add(piece);
  TW_RETURN_IF_ERROR(append(sink_, marks));
  return append(sink_, sums.finish());
}

/// All is looked at before any of it is written. What there is of marks is small.
Result<bool> IndexBuild::take_over(std::span<const Segment> segments,
                                   const std::atomic<bool>& damaged) {
  std::vector<Pieces> marks;
  uint64_t size = 0;
  for (const Segment& segment : segments) {
    for (const Bytes& part : segment.parts) size += part.size();
    seams_.begin_session(segment.session);
    seams_.take_over(segment);
    call_marks_.begin_session(segment.session);
    auto own = call_marks_.take_over(segment);
    if (!own) return false;
    size += size_of(*own);
    marks.push_back(*std::move(own));
    if (stopped()) return stopped_error();
  }
  if (damaged || (room_ && size > trace_bytes_ / 4)) return false;
  for (size_t i = 0; i < marks.size(); ++i) TW_RETURN_IF_ERROR(put_over(segments[i], marks[i]));
  return true;
}

Status IndexBuild::put_over(const Segment& segment, const Pieces& marks) {
  SegmentPlace place{segment.first, segment.count, segment.session, sink_.size()};
  place.loss_end = segment.loss_end;
  place.opened = segment.opened;
  place.left_out = segment.left_out;
  indexed_steps_ += segment.count;
  for (size_t i = 0; i < kParts; ++i) {
    place.sizes[i] = segment.parts[i].size();
    used_ += place.sizes[i];
    TW_RETURN_IF_ERROR(append(sink_, segment.parts[i]));
  }
  TW_RETURN_IF_ERROR(append(sink_, segment.sums->sums()));
  TW_RETURN_IF_ERROR(put_marks(marks, place));
  places_.push_back(place);
  return {};
}

Status IndexBuild::finish(const TraceIdentity& trace) {
  TW_RETURN_IF_ERROR(seams_.look(steps_, catalog_));
  for (SegmentPlace& place : places_) {
    place.opened |= seams_.led_elsewhere(place.first);
    const std::vector<uint8_t> seams = joined(seams_.table(place.first, place.first + place.count));
    place.seams_offset = sink_.size();
    place.seams_bytes = seams.size();
    place.seams_hash = index_hash(seams);
    TW_RETURN_IF_ERROR(append(sink_, seams));
  }
  const uint64_t notes_offset = sink_.size();
  TW_RETURN_IF_ERROR(append(sink_, options_.notes));
  const std::vector<uint8_t> directory = make_directory(places_, notes_offset, options_.notes);
  const uint64_t offset = sink_.size();
  TW_RETURN_IF_ERROR(append(sink_, directory));
  return sink_.rewrite_head(make_header(trace, offset, directory));
}

/// What can be taken over of an index of the trace when it was shorter: never the last segment,
/// whose last steps know more now.
std::span<const Segment> sound_begin(const Index& old, bool small) {
  constexpr auto kNeeded = static_cast<uint8_t>(1u << static_cast<size_t>(Part::Threads) |
                                                1u << static_cast<size_t>(Part::Transfers));
  size_t count = 0;
  for (; count + 1 < old.segments.size(); ++count) {
    const Segment& one = old.segments[count];
    if (one.sums && !one.sums->good()) break;
    if ((one.left_out & kNeeded) != 0 || (one.left_out != 0 && !small)) break;
  }
  return std::span(old.segments).first(count);
}

}  // namespace

Status build_index(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                   const Index* old, const BuildOptions& options, IndexSink& sink) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned workers = std::min(options.workers != 0 ? options.workers : cores, kWorkersMax);
  TW_RETURN_IF_ERROR(sink.append(std::vector<uint8_t>(kIndexHeaderBytes)));
  std::optional<IndexBuild> build;
  build.emplace(steps, catalog, options, trace.size_bytes, sink);
  uint64_t from = 0;
  if (old != nullptr && old->steps() <= steps.count())
    if (const std::span<const Segment> sound = sound_begin(*old, options.small); !sound.empty()) {
      old->damaged->store(false);  // that is behind them
      TW_ASSIGN_OR_RETURN(const bool taken, build->take_over(sound, *old->damaged));
      if (taken)
        from = sound.back().end();
      else
        build.emplace(steps, catalog, options, trace.size_bytes, sink);
    }
  TW_RETURN_IF_ERROR(
      build->run(plan(steps, from, workers, options.segment_steps), workers));
  return build->finish(trace);
}

}  // namespace tracewell::timeline

