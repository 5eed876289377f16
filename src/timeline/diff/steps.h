// The last steps of one thread before some step, with all that they did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"
#include "model/stream.h"

namespace tracewell::timeline {

class LastSteps {
 public:
  /// Steps of thread `tid` up to `seq`, which is one of them, beginning about `look_back` steps of
  /// all threads before it, or nearer where they take too much memory.
  static Result<LastSteps> read(const StepIndex& steps, uint64_t tid, uint64_t seq,
                                size_t look_back);

  size_t size() const { return steps_.size(); }
  /// 0 is the last one, 1 the one before it.
  const Event& event(size_t back) const { return *steps_[steps_.size() - 1 - back]; }
  const Step& step(size_t back) const { return std::get<Step>(event(back).body); }
  /// A register's bytes before that step; empty = not known.
  Bytes register_before(size_t back, uint32_t index) const;
  /// Did the step, or somebody between it and the next one of its thread, change the register?
  bool changes_register(size_t back, uint32_t index) const;
  /// Did the step write to these bytes?
  bool writes(size_t back, uint64_t address, uint64_t size) const;
  /// The last step of any thread that did, before that one; nullptr when none of those here has.
  const Event* last_writer(size_t back, uint64_t address, uint64_t size) const;

 private:
  struct Part {
    std::unique_ptr<Batch> batch;
    size_t bytes = 0;           // of its values
    size_t steps = 0, all = 0;  // of the lists below
  };
  bool add(std::unique_ptr<Batch> batch, uint64_t tid, uint64_t seq);
  void drop_oldest();

  std::deque<Part> parts_;
  size_t bytes_ = 0;
  std::deque<const Event*> steps_;
  std::deque<const Event*> all_;  // of all threads
};

}  // namespace tracewell::timeline
