// How far a recorded run goes before there is something to tell.
#include <utility>

#include "target/recorded/history_target.h"

namespace tracewell::target {
namespace {

using Kind = Breakpoints::Kind;

// Steps of a range step between two looks at what else the debugger wants.
constexpr int kStepsAtOnce = 4096;

bool is_watch(Kind kind) { return kind != Kind::Software && kind != Kind::Hardware; }

History::Touch touch_of(Kind kind) {
  return kind == Kind::WriteWatch  ? History::Touch::Write
         : kind == Kind::ReadWatch ? History::Touch::Read
                                   : History::Touch::Any;
}

StopEvent::Kind told_as(Kind kind) {
  return is_watch(kind)               ? StopEvent::Kind::Watchpoint
         : kind == Kind::Hardware     ? StopEvent::Kind::Hardware
                                      : StopEvent::Kind::Breakpoint;
}

/// At one moment, what is watched comes first: a debugger steps over a breakpoint at the pc
/// unasked. Of that, the first byte: only one can be told, and larger ones around it hold it, too.
bool goes_first(Kind one, uint64_t address, Kind other, uint64_t other_address) {
  if (is_watch(one) != is_watch(other)) return is_watch(one);
  return address < other_address;
}

}  // namespace

/// The next place after now at which somebody wants to stop: before an instruction with a
/// breakpoint, after one that touches what is watched. The last step is never done.
HistoryTarget::Place HistoryTarget::ahead() {
  struct Found {
    uint64_t moment, step, address;
    Kind kind;
  };
  std::optional<Found> first;
  for (const Point& point : points_) {
    std::optional<Found> found;
    if (!is_watch(point.kind)) {
      if (const auto step = history_.next_execution(point.address, now_ + 1))
        found = {*step, *step, point.address, point.kind};
    } else if (const auto touched = history_.next_touch(point.address, point.size,
                                                        touch_of(point.kind), now_)) {
      found = {touched->step + 1, touched->step, touched->address, point.kind};
    }
    if (!found || found->moment > last_moment()) continue;
    if (!first || found->moment < first->moment ||
        (found->moment == first->moment &&
         goes_first(found->kind, found->address, first->kind, first->address)))
      first = found;
  }
  if (!first)
    return {last_moment(), event_at(last_moment(), StopEvent::Kind::HistoryEnd, 0)};
  return {first->moment, event_at(first->step, told_as(first->kind), first->address)};
}

/// The same backwards: before the instruction, in both cases.
HistoryTarget::Place HistoryTarget::behind() {
  std::optional<History::Touched> last;
  Kind kind = Kind::Software;
  for (const Point& point : points_) {
    std::optional<History::Touched> found;
    if (!is_watch(point.kind)) {
      if (const auto step = history_.last_execution(point.address, now_))
        found = History::Touched{*step, point.address};
    } else {
      found = history_.last_touch(point.address, point.size, touch_of(point.kind), now_);
    }
    if (!found) continue;
    if (!last || found->step > last->step ||
        (found->step == last->step &&
         goes_first(point.kind, found->address, kind, last->address))) {
      last = found;
      kind = point.kind;
    }
  }
  if (!last) return {0, event_at(0, StopEvent::Kind::HistoryBegin, 0)};
  return {last->step, event_at(last->step, told_as(kind), last->address)};
}

/// The thread's next step is done, and what others did before it.
Result<HistoryTarget::Place> HistoryTarget::step_ahead(Tid tid) {
  Place place = ahead();
  const auto step = history_.next_of_thread(*recorded(tid), now_);
  if (!step || *step + 1 > last_moment() || place.moment <= *step) return place;
  if (place.moment == *step + 1 && place.event.kind == StopEvent::Kind::Watchpoint) return place;
  place.moment = *step + 1;
  place.event = event_at(*step, StopEvent::Kind::Stepped, 0);
  return place;
}

Result<HistoryTarget::Place> HistoryTarget::step_behind(Tid tid) {
  Place place = behind();
  const auto step = history_.last_of_thread(*recorded(tid), now_);
  if (!step || place.moment > *step) return place;
  if (place.moment == *step && place.event.kind != StopEvent::Kind::HistoryBegin) return place;
  return Place{*step, event_at(*step, StopEvent::Kind::Stepped, 0)};
}

Result<std::optional<StopEvent>> HistoryTarget::wait() {
  if (!run_) return {Errc::InvalidArgument, "nothing was resumed"};
  for (int i = 0; i < kStepsAtOnce && !interrupted_; ++i) {
    Place place;
    if (run_->steps) {
      TW_ASSIGN_OR_RETURN(place, run_->back ? step_behind(run_->tid) : step_ahead(run_->tid));
    } else {
      place = run_->back ? behind() : ahead();
    }
    now_ = place.moment;
    if (place.event.kind == StopEvent::Kind::Stepped && run_->range_end > run_->range_start) {
      TW_RETURN_IF_ERROR(look(run_->tid));
      if (moment_.pc >= run_->range_start && moment_.pc < run_->range_end) continue;
    }
    run_.reset();
    return std::optional(std::move(place.event));
  }
  if (!interrupted_) return std::optional<StopEvent>();
  interrupted_ = false;
  run_.reset();
  return std::optional(event_at(now_, StopEvent::Kind::Interrupted, 0));
}

}  // namespace tracewell::target
