#include "timeline/diff/rounds.h"

#include <algorithm>
#include <utility>

namespace tracewell::timeline {
namespace {

constexpr uint64_t kLookBackMax = 16 << 20;  // steps

/// Counts how often the head was reached since the loop was last entered from elsewhere.
class Arrivals {
 public:
  Arrivals(uint64_t head, uint64_t latch) : head_(head), latch_(latch) {}

  void see(std::span<const Place> places) {
    for (const Place& place : places) {
      if (place.pc == head_) {
        const bool goes_on = first_ || before_ == latch_;
        entered_ = goes_on ? entered_ : true;
        count_ = goes_on ? count_ + 1 : 1;
        // Whoever comes from the latch was in the loop before, or jumped in at its test.
        if (count_ == 1) since_ = first_ ? place.seq : goes_on ? 0 : before_seq_;
      }
      before_ = place.pc;
      before_seq_ = place.seq;
      first_ = false;
    }
  }
  uint64_t count() const { return count_; }
  bool entered() const { return entered_; }
  /// A step that is not behind where the loop was entered: the one in front of it, where it was
  /// seen.
  std::optional<uint64_t> since() const { return since_; }

 private:
  uint64_t head_, latch_;
  uint64_t before_ = 0, before_seq_ = 0;
  std::optional<uint64_t> since_;
  uint64_t count_ = 0;
  bool first_ = true;
  bool entered_ = false;
};

}  // namespace

Result<RoundCounter::Count> RoundCounter::count_side(FlowThreads& threads, size_t number,
                                                     ThreadFlow& flow, const Loop& loop) {
  const size_t more = loop.far_last ? 0 : loop.more;
  TW_ASSIGN_OR_RETURN(const std::span<const Place> ahead, flow.ahead(more));
  const std::span<const Place> rest = ahead.first(std::min(more, ahead.size()));
  const std::span<const Place> back = flow.back();
  Arrivals near(loop.head, loop.latch);
  near.see(back);
  near.see(rest);
  if (!loop.far_last && (near.entered() || back.empty()))
    return Count{near.count(), near.entered(), near.since()};
  const uint64_t parted = rest.empty() ? back.back().seq : rest.back().seq;
  const uint64_t end = loop.far_last.value_or(parted);
  TW_ASSIGN_OR_RETURN(const FlowThreads::Thread* thread, threads.thread(number));
  const uint64_t first = thread->first;  // who reads may find more threads, and these move then
  Count count{near.count(), false, near.since()};
  for (uint64_t far = kLookBackMax / 64; far <= kLookBackMax && !count.exact; far *= 8) {
    const uint64_t from = parted > far ? parted - far : 0;
    TW_ASSIGN_OR_RETURN(ThreadFlow again, ThreadFlow::open(threads, number, from));
    Arrivals arrivals(loop.head, loop.latch);
    while (true) {
      TW_ASSIGN_OR_RETURN(std::span<const Place> places, again.ahead(ThreadFlow::kBack));
      const auto behind = std::find_if(places.begin(), places.end(),
                                       [&](const Place& one) { return one.seq > end; });
      places = places.first(static_cast<size_t>(behind - places.begin()));
      if (places.empty()) break;
      arrivals.see(places);
      again.advance(places.size());
    }
    count = {arrivals.count(), arrivals.entered() || from <= first, arrivals.since()};
    if (from <= first) break;
  }
  return count;
}

Result<RoundCounter::Since> RoundCounter::count(const Meeting& meeting, ThreadFlow& a,
                                                ThreadFlow& b, Difference& difference) {
  const ExtraRounds& loop = *meeting.loop;
  const uint64_t distance = b.back().back().pc - a.back().back().pc;
  const uint64_t to_a = loop.in_a ? 0 : -distance, to_b = loop.in_a ? distance : 0;
  difference.head_a = loop.head + to_a;
  difference.head_b = loop.head + to_b;
  Loop in_a{difference.head_a, loop.latch + to_a, meeting.a, {}};
  Loop in_b{difference.head_b, loop.latch + to_b, meeting.b, {}};
  if (meeting.far) (loop.in_a ? in_a : in_b).far_last = meeting.far_last;
  TW_ASSIGN_OR_RETURN(const Count of_a, count_side(threads_a_, number_a_, a, in_a));
  TW_ASSIGN_OR_RETURN(const Count of_b, count_side(threads_b_, number_b_, b, in_b));
  const uint64_t tests = loop.tests_first ? 1 : 0;
  difference.times_a = of_a.rounds - std::min(tests, of_a.rounds);
  difference.times_b = of_b.rounds - std::min(tests, of_b.rounds);
  difference.exact = of_a.exact && of_b.exact;
  // As often in both: the runs were compared in different rounds, ever since some hole.
  if (difference.times_a == difference.times_b) return Since{0, 0};
  return Since{of_a.since, of_b.since};
}

}  // namespace tracewell::timeline
