// StepStore: a trace of steps kept in memory, with the random access that its format lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::timeline {

/// Takes memory in proportion to the trace's events, however many threads and however large
/// registers there are. Used by one thread at a time; what open_at() gives shares the events, which
/// nobody changes any more.
class StepStore final : public Source, public StepIndex {
 public:
  /// Reads to the end. Unsupported when there is anything but steps, marks and losses.
  static Result<std::unique_ptr<StepStore>> read(Source& source, const Work& work = {});

  /// Its notes are the marks that were read.
  const Catalog& catalog() const override;
  Result<bool> next(Batch& batch) override;
  Seekable* seekable() override { return this; }
  StepIndex* steps() override { return this; }

  uint64_t count() const override;
  Status seek(uint64_t seq) override;
  Status state_before(uint64_t seq, Moment& moment) override;
  std::span<const uint64_t> keyframes() const override;
  std::span<const uint64_t> sessions() const override;
  std::span<const uint64_t> stretches() const override;
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override;
  Result<std::unique_ptr<Source>> open_thread_at(uint64_t seq, uint64_t tid) const override;
  std::unique_ptr<StepFlow> flow_at(uint64_t seq) const override;
  Result<bool> refresh() override { return false; }

 private:
  using Threads = std::unordered_set<uint64_t>;  // of a session
  /// What a thread's registers are at some step is worked out from its own steps alone, when
  /// somebody asks: to begin to read costs nothing for threads that nobody meets there.
  struct ThreadSteps {
    std::vector<uint64_t> steps;        // numbers, ascending
    /// Before its steps state_every, 2 * state_every, …; empty where its session begins.
    std::vector<RegisterState> states;
  };
  struct Data {
    Catalog catalog;
    std::vector<std::unique_ptr<Batch>> batches;
    std::deque<Event> small_events;  // of batches that had wide values
    Batch small_values;              // theirs
    std::vector<const Event*> events;
    std::vector<size_t> of_step;  // where the events with its number begin
    std::vector<uint64_t> keyframes, sessions, stretches;
    bool lost = false;  // something, in front of the step that comes next
    std::unordered_map<uint64_t, ThreadSteps> threads;
    size_t state_every = 0;  // steps of one thread

    const Event& step_event(uint64_t seq) const;
    uint64_t session_of(uint64_t seq) const;
    /// In front of step `seq`, from the thread's steps in the same session; none = there are no
    /// such steps.
    std::optional<RegisterState> state_of(const ThreadSteps& thread, uint64_t seq) const;
  };
  class Flow;
  explicit StepStore(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  static void add(Data& data, const Event& event, Threads& met);
  static void add_step(Data& data, const Event& event, uint64_t seq);
  std::optional<RegisterState> state_of(uint64_t tid, uint64_t seq) const;
  bool tell_everything(const Event& event, Step& step, Batch& batch, size_t& bytes) const;

  std::shared_ptr<const Data> data_;
  size_t at_ = 0;
  uint64_t next_seq_ = 0;  // whatever numbers the source gave
  size_t batch_events_ = 1;  // at most, of the next batch: it grows while somebody reads on
  std::optional<uint64_t> only_;  // the thread whose registers are wanted; none = all of them
  bool skipped_ = false;   // seek() has, steps of the session that is read now
  std::unordered_set<uint64_t> told_;  // threads that were met since
};

}  // namespace tracewell::timeline
