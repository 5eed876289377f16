#include "formats/trace64/read/ahead.h"

#include <cstring>
#include <utility>

#include "base/begin_anew.h"

namespace tracewell::formats::trace64 {
namespace {

size_t cost_of(const ThreadsAhead::Left& left) {
  return sizeof(left) + left.bytes.size() + left.registers.size() * sizeof(left.registers[0]);
}

}  // namespace

ThreadsAhead::ThreadsAhead(const BlockChain& chain, const Shape& shape)
    : chain_(chain), shape_(shape), layout_(&WordMap::of(shape).layout()) {}

void ThreadsAhead::reset(const BlockChain& chain) {
  chain_ = chain;
  forget();
}

void ThreadsAhead::forget() {
  begin_anew(threads_);
  begin_anew(left_);
  left_bytes_ = 0;
}

const ThreadsAhead::Left* ThreadsAhead::left_by(uint64_t seq, uint64_t tid,
                                                const RegisterTracker& before,
                                                const Block& next) {
  auto found = left_.find(seq);
  if (found == left_.end()) {
    if (!waits(tid, seq)) begin(seq, tid, before, next);
    while (!ended_ && seq_ - seq < kWindow && waits(tid, seq)) advance(seq);
    found = left_.find(seq);
    if (found == left_.end()) return nullptr;
  }
  answer_ = std::move(found->second);
  left_bytes_ -= cost_of(answer_);
  left_.erase(found);
  return &answer_;
}

/// Has the thread not gone on behind that step, as far as was walked?
bool ThreadsAhead::waits(uint64_t tid, uint64_t seq) const {
  const auto found = threads_.find(tid);
  return found != threads_.end() && found->second.away && found->second.left_at == seq;
}

void ThreadsAhead::begin(uint64_t seq, uint64_t tid, const RegisterTracker& before,
                         const Block& next) {
  forget();
  tracker_.emplace(before);
  by_words_ = !chain_.has_unknown();
  words_ = before.words();
  seq_ = seq;
  tid_ = tid;
  ended_ = false;
  follows_ = true;
  leave();
  go_to(next, true);
}

void ThreadsAhead::go_to(const Block& block, bool switches) {
  ++seq_;
  if (by_words_) words_.apply(block, shape_);
  follows_ = switches || !by_words_;
  if (follows_) tracker_->apply(block, changed_, block.unknown);
  if (block.has_tid) tid_ = block.tid;
  block_ = block;
}

/// One step further. `asked`: of the step that somebody waits for.
void ThreadsAhead::advance(uint64_t asked) {
  Block next;
  uint64_t gap = 0;
  if (chain_.find_behind(block_, seq_, next, gap) != Border::None) {
    ended_ = true;
    return;
  }
  const bool switches = next.has_tid && next.tid != tid_;
  if (switches) leave();
  go_to(next, switches);
  if (!switches) return;
  const auto found = threads_.find(tid_);
  if (found != threads_.end() && found->second.away) come_back(found->second, asked);
}

void ThreadsAhead::leave() {
  if (!follows_) tracker_->move_to(words_);
  if (threads_.size() >= kThreadsKept && !threads_.contains(tid_)) return;
  Thread& thread = threads_[tid_];
  thread.left_at = seq_;
  thread.away = true;
  thread.registers = tracker_->registers();
}

/// Its step is the one that was taken in last.
void ThreadsAhead::come_back(Thread& thread, uint64_t asked) {
  thread.away = false;
  if (thread.left_at < asked) return;  // it was asked for, and was too far
  if (thread.left_at != asked && left_bytes_ >= kBytesKept) return;
  Left left = compare(thread.registers, tracker_->registers());
  left.found_at = seq_;
  left_bytes_ += cost_of(left);
  left_.emplace(thread.left_at, std::move(left));
}

ThreadsAhead::Left ThreadsAhead::compare(const RegisterState& before,
                                         const RegisterState& now) const {
  Left left;
  size_t size = 0;
  for (uint32_t i = 0; i < layout_->registers.size(); ++i) {
    const Register& one = layout_->registers[i];
    if (!before.is_valid(i)) {
      left.all &= !now.is_valid(i);
      continue;
    }
    const uint8_t* const was = before.block.data() + one.offset;
    const uint8_t* const is = now.block.data() + one.offset;
    if (now.is_valid(i) && std::memcmp(was, is, one.size_bytes) == 0) continue;
    left.registers.push_back({i, now.is_valid(i) ? Bytes(is, one.size_bytes) : Bytes()});
    size += left.registers.back().value.size();
  }
  left.bytes.reserve(size);
  for (Step::RegisterChange& change : left.registers) {
    const size_t at = left.bytes.size();
    left.bytes.insert(left.bytes.end(), change.value.begin(), change.value.end());
    change.value = Bytes(left.bytes.data() + at, change.value.size());
  }
  return left;
}

}  // namespace tracewell::formats::trace64
