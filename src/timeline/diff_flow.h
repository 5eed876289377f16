// One thread's way through a trace of steps, with a look ahead and a look back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/stream.h"

namespace tracewell::timeline {

using Place = StepFlow::Place;

/// The places of a trace from step `seq` on, by its own short cut or from its events.
Result<std::unique_ptr<StepFlow>> open_flow(const StepIndex& steps, uint64_t seq);

/// The threads of a trace in the order of their first steps, found as the trace is read.
class FlowThreads {
 public:
  struct Thread {
    uint64_t tid = 0;
    uint64_t first = 0, last = 0;  // steps, as far as is known
  };

  explicit FlowThreads(const StepIndex& steps) : steps_(steps) {}
  const StepIndex& steps() const { return steps_; }
  /// The thread with that number, reading on until it is known; nullptr when there is none.
  Result<const Thread*> thread(size_t number);
  /// Looks at places that somebody has read.
  void see(std::span<const Place> places);
  /// No step behind `seq` is of thread `number`.
  bool over(size_t number, uint64_t seq) const;

 private:
  const StepIndex& steps_;
  std::vector<Thread> threads_;
  uint64_t seen_to_ = 0;  // steps before this one are known
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

  /// At least `wanted` places from here, unless there are no more. Until the next call.
  Result<std::span<const Place>> ahead(size_t wanted);
  /// The last places before here, up to kBack of them and sometimes more.
  std::span<const Place> back() const { return {places_.data(), at_}; }
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

  FlowThreads* threads_;
  size_t number_ = 0;
  uint64_t tid_ = 0;
  std::unique_ptr<StepFlow> flow_;
  std::vector<Place> places_;
  size_t at_ = 0;
  uint64_t done_ = 0;
  bool over_ = false;
};

}  // namespace tracewell::timeline
