// How far a recorded run goes before there is something to tell.
#include <chrono>
#include <optional>
#include <utility>

#include "target/recorded/history_target.h"

namespace tracewell::target {
namespace {

using Kind = Breakpoints::Kind;

// Between two looks at what else the debugger wants. Of a long trace, a search for one watchpoint
// alone may take as long.
constexpr std::chrono::milliseconds kTurn{100};

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
/// breakpoint, after one that touches what is watched. Backwards: before the instruction, in both
/// cases.
std::optional<HistoryTarget::Found> HistoryTarget::find(const Point& point, bool back) {
  if (!is_watch(point.kind)) {
    const auto step = back ? history_.last_execution(point.address, now_)
                           : history_.next_execution(point.address, now_ + 1);
    if (!step) return std::nullopt;
    return Found{*step, *step, point.address, point.kind};
  }
  const History::Touch how = touch_of(point.kind);
  const auto touched = back ? history_.last_touch(point.address, point.size, how, now_)
                            : history_.next_touch(point.address, point.size, how, now_);
  if (!touched) return std::nullopt;
  return Found{touched->step + (back ? 0 : 1), touched->step, touched->address, point.kind};
}

bool HistoryTarget::holds(const Search& search) const {
  if (search.back != run_->back) return false;
  const auto& first = search.first;
  return search.back ? now_ <= search.from && (!first || first->moment < now_)
                     : now_ >= search.from && (!first || first->moment > now_);
}

/// Looks for one point more. True: for all of them, so that ahead() or behind() can be told.
bool HistoryTarget::is_searched() {
  const bool back = run_->back;
  if (!search_ || !holds(*search_)) search_ = Search{back, now_, points_.begin(), {}};
  if (search_->next == points_.end()) return true;
  const auto found = find(*search_->next++, back);
  std::optional<Found>& first = search_->first;
  // The last step is never done.
  const bool counts = found && found->moment < moments();
  const auto comes_first = [&] {
    if (found->moment != first->moment) return (found->moment < first->moment) != back;
    return goes_first(found->kind, found->address, first->kind, first->address);
  };
  if (counts && (!first || comes_first())) first = found;
  return search_->next == points_.end();
}

HistoryTarget::Place HistoryTarget::ahead() {
  if (!search_->first)
    return {moments() - 1, event_at(moments() - 1, StopEvent::Kind::HistoryEnd, 0)};
  const Found& first = *search_->first;
  return {first.moment, event_at(first.step, told_as(first.kind), first.address)};
}

HistoryTarget::Place HistoryTarget::behind() {
  if (!search_->first) return {0, event_at(0, StopEvent::Kind::HistoryBegin, 0)};
  const Found& last = *search_->first;
  return {last.step, event_at(last.step, told_as(last.kind), last.address)};
}

/// The thread's next step is done, and what others did before it.
Result<HistoryTarget::Place> HistoryTarget::step_ahead(Tid tid) {
  Place place = ahead();
  const auto step = history_.next_of_thread(*recorded(tid), now_);
  if (!step || *step + 1 >= moments() || place.moment <= *step) return place;
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

Result<HistoryTarget::Place> HistoryTarget::next_place() {
  if (!run_->steps) return run_->back ? behind() : ahead();
  return run_->back ? step_behind(run_->tid) : step_ahead(run_->tid);
}

Result<std::optional<StopEvent>> HistoryTarget::wait() {
  if (!run_) return {Errc::InvalidArgument, "nothing was resumed"};
  const auto end = std::chrono::steady_clock::now() + kTurn;
  while (!interrupted_) {
    if (is_searched()) {
      TW_ASSIGN_OR_RETURN(Place place, next_place());
      now_ = place.moment;
      bool goes_on = false;
      if (place.event.kind == StopEvent::Kind::Stepped && run_->range_end > run_->range_start) {
        TW_RETURN_IF_ERROR(look(run_->tid));
        goes_on = moment_.pc >= run_->range_start && moment_.pc < run_->range_end;
      }
      if (!goes_on) {
        run_.reset();
        return std::optional(std::move(place.event));
      }
    }
    if (std::chrono::steady_clock::now() >= end) return std::optional<StopEvent>();
  }
  interrupted_ = false;
  run_.reset();
  return std::optional(event_at(now_, StopEvent::Kind::Interrupted, 0));
}

}  // namespace tracewell::target
