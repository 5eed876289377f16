#include "timeline/step_walk.h"

#include <algorithm>

namespace tracewell::timeline {

StepWalk::Found StepWalk::next() {
  if (begun_ && read_.empty()) read_stretch();
  begun_ = true;
  if (read_.empty()) return alone();
  const uint64_t step = read_.back();
  read_.pop_back();
  return step;
}

/// Where no step is for long, nothing is read.
StepWalk::Found StepWalk::alone() {
  if (from_ >= end_) return std::nullopt;
  const Found step = backward_ ? question_.last(end_) : question_.next(from_);
  if (!step || *step < from_ || *step >= end_) {
    from_ = end_;
    return std::nullopt;
  }
  (backward_ ? end_ : from_) = *step + (backward_ ? 0 : 1);
  return step;
}

void StepWalk::read_stretch() {
  if (from_ >= end_) return;
  const uint64_t size = std::min(stretch_, end_ - from_);
  if (backward_) {
    end_ -= size;
    read_ = question_.all(end_, end_ + size);
  } else {
    from_ += size;
    read_ = question_.all(from_ - size, from_);
    std::reverse(read_.begin(), read_.end());
  }
  stretch_ = std::min(stretch_ * kGrowth, kStretchMax);
}

}  // namespace tracewell::timeline
