// One thread's way through a trace of steps, with a look ahead and a look back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::timeline {

using Place = StepFlow::Place;

/// The places of a trace from step `seq` on, by its own short cut or from its events.
Result<std::unique_ptr<StepFlow>> open_flow(const StepIndex& steps, uint64_t seq);

/// Where a step was.
Place place_of(uint64_t tid, uint64_t seq, const Step& step);

using Places = std::vector<Place>;

/// The threads of a trace in the order of their first steps, found as the trace is read.
class FlowThreads {
 public:
  struct Thread {
    uint64_t tid = 0;
    uint64_t first = 0, last = 0;  // steps, as far as is known
    uint64_t count = 0;            // of its steps, as far as is known
  };

  /// `work`: asked before each piece of the trace is read.
  explicit FlowThreads(const StepIndex& steps, Work work = {})
      : steps_(steps), work_(std::move(work)) {}
  const StepIndex& steps() const { return steps_; }
  const Work& work() const { return work_; }
  /// The thread with that number, reading on until it is known; nullptr when there is none. Until
  /// somebody reads on, through this or a ThreadFlow.
  Result<const Thread*> thread(size_t number);
  /// How many there are; reads on to the end.
  Result<size_t> count();
  /// As far as is known.
  std::optional<size_t> number_of(uint64_t tid) const;
  /// Looks at places that somebody has read.
  void see(std::span<const Place> places);
  /// No step behind `seq` is of thread `number`.
  bool over(size_t number, uint64_t seq) const;
  /// All places of a thread that has few; nullptr when it has many, or when the trace has not been
  /// read to its end yet. Those of the threads that come next are read along with them, as many as
  /// fit: whoever asks in the order of numbers has the trace read a bounded number of times,
  /// however many threads there are.
  Result<std::shared_ptr<const Places>> kept(size_t number);

 private:
  Status keep_from(size_t number);
  uint64_t most_kept() const;
  bool all_seen() const { return seen_to_ >= steps_.count(); }

  const StepIndex& steps_;
  const Work work_;
  std::vector<Thread> threads_;
  std::unordered_map<uint64_t, size_t> numbers_;  // by tid
  uint64_t seen_to_ = 0;  // steps before this one are known
  std::unordered_map<size_t, std::shared_ptr<Places>> kept_;  // by number
};

/// Walks the steps of one thread. Keeps the last few thousand of them, and as many in front as
/// somebody wants to see.
class ThreadFlow {
 public:
  static constexpr size_t kBack = 4096;

  enum class Reading : uint8_t { Here, InThread };  // InThread: for long ways
  /// Thread `number` of `threads`, which must outlive this, from step `from` on.
  static Result<ThreadFlow> open(FlowThreads& threads, size_t number, uint64_t from,
                                 Reading reading = Reading::Here);

  /// At least `wanted` places from here, unless there are no more. Until the next call, whoever
  /// makes it: the places move when more are read. advance() and go_back() move none.
  Result<std::span<const Place>> ahead(size_t wanted);
  /// The last places before here, up to kBack of them and sometimes more. Until the next ahead().
  std::span<const Place> back() const {
    return all().first(at_).last(std::min(at_, 4 * kBack));
  }
  void advance(size_t count) {
    at_ += count;
    done_ += count;
  }
  /// `count` is not more than back() has.
  void go_back(size_t count) {
    at_ -= count;
    done_ -= count;
  }
  /// How many places it has gone.
  uint64_t done() const { return done_; }

 private:
  ThreadFlow(FlowThreads& threads, size_t number) : threads_(&threads), number_(number) {}

  std::span<const Place> all() const {
    return kept_ ? std::span<const Place>(*kept_).subspan(kept_from_) : places_;
  }

  FlowThreads* threads_;
  size_t number_ = 0;
  std::shared_ptr<const Places> kept_;  // all there are; nullptr = they come from flow_
  size_t kept_from_ = 0;                // the first of them that is asked for
  uint64_t tid_ = 0;
  std::unique_ptr<StepFlow> flow_;
  Places places_;
  size_t at_ = 0;
  uint64_t done_ = 0;
  bool over_ = false;
};

}  // namespace tracewell::timeline
