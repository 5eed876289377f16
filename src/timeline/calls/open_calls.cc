#include "timeline/calls/open_calls.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "timeline/calls/call_marks.h"

namespace tracewell::timeline {
namespace {

class Walk {
 public:
  Walk(const Index& index, uint64_t tid, size_t most) : index_(index), tid_(tid), most_(most) {}

  OpenCalls out;

  /// Goes from chunk to chunk, each before the one before it. False at damage.
  bool go(uint64_t step) {
    if (!find(step) || !begin(step)) return !damaged_;
    while (left_ != 0 && out.calls.size() < most_)
      if (!take_chunk()) return false;
    return true;
  }

 private:
  size_t segment_of(uint64_t step) const {
    const auto after = std::ranges::upper_bound(index_.segments, step, {}, &Segment::first);
    return static_cast<size_t>(after - index_.segments.begin()) - 1;
  }
  /// The chunk with the thread's last entry at a step or before it; false when there is none.
  bool find(uint64_t step) {
    const size_t last = segment_of(step);
    const uint64_t session = index_.segments[last].session;
    for (size_t i = last + 1; i-- > 0 && index_.segments[i].session == session;) {
      segment_ = i;
      marks_.emplace(index_.segments[i], tid_);
      if (!marks_->any() || marks_->first(0) > step) continue;
      chunk_ = marks_->chunk_of(step);
      // So that the way back leads over each segment once.
      damaged_ |= marks_->first(chunk_) >= index_.segments[i].end();
      return !damaged_;
    }
    return false;
  }
  bool load() {
    damaged_ |= !marks_->read(chunk_, record_) || !marks_->entries(chunk_, entries_);
    return !damaged_;
  }
  void add(const Transfer& call) {
    out.calls.push_back({index_.segments[segment_].first + call.step, call.to, call.back});
  }

  /// What the chunk has opened and ended until `step`.
  bool begin(uint64_t step);
  /// Those beneath that were called in another chunk.
  bool take_chunk();

  const Index& index_;
  const uint64_t tid_;
  const size_t most_;
  size_t segment_ = 0, chunk_ = 0;
  std::optional<CallMarks> marks_;
  CallMarks::Record record_;
  std::vector<Transfer> entries_;
  uint64_t left_ = 0;  // that are open and not told yet
  uint64_t next_ = 0;  // the step in whose chunk the innermost of these was called, or a later one
  bool damaged_ = false;
};

bool Walk::begin(uint64_t step) {
  if (!load()) return false;
  left_ = record_.beneath;
  for (const uint64_t count : record_.ended) left_ += count;
  std::vector<size_t> own;
  size_t unmatched = 0;
  const uint64_t base = index_.segments[segment_].first;
  for (size_t i = 0; i < entries_.size() && base + entries_[i].step <= step; ++i) {
    const Transfer& one = entries_[i];
    if (!one.is_return) {
      if (one.to != one.back) own.push_back(i);
      continue;
    }
    const auto waits = std::ranges::find(own | std::views::reverse, one.to,
                                         [&](size_t call) { return entries_[call].back; });
    if (waits != own.rend()) {
      own.erase(waits.base() - 1, own.end());
      continue;
    }
    damaged_ |= unmatched == record_.ended.size() || record_.ended[unmatched] > left_;
    if (damaged_) return false;
    const uint64_t ended = record_.ended[unmatched++];
    left_ -= ended;
    if (ended != 0) own.clear();
  }
  out.depth = left_ + own.size();
  for (const size_t call : own | std::views::reverse)
    if (out.calls.size() < most_) add(entries_[call]);
  next_ = marks_->first(chunk_);
  return true;
}

bool Walk::take_chunk() {
  // All that is left was open where the chunk began: in the one before it stands what of this.
  if (next_ == 0 || !find(next_ - 1) || !load()) return false;
  const uint64_t begin = marks_->first(chunk_);
  if (begin >= next_) return false;
  const uint64_t own = left_ > record_.beneath ? left_ - record_.beneath : 0;
  if (own > record_.open.size()) return false;
  for (uint64_t i = own; i > 0 && out.calls.size() < most_; --i) {
    const uint32_t number = record_.open[i - 1];
    if (number >= entries_.size()) return false;
    add(entries_[number]);
  }
  left_ -= own;
  // Not to the chunk before, but to where the next one was called.
  next_ = std::min(begin, record_.beneath_step + 1);
  return true;
}

}  // namespace

OpenCalls open_calls(const Index& index, uint64_t step, uint64_t tid, size_t most) {
  Walk walk(index, tid, most);
  if (!walk.go(step)) index.damaged->store(true, std::memory_order_relaxed);
  return std::move(walk.out);
}

}  // namespace tracewell::timeline
