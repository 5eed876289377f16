#include "fast/ring_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/prefetch.h"

namespace tracewell::fast {
namespace {

/// How far in front of what is read memory is fetched.
constexpr uint64_t kAheadBytes = 2048;
/// What a record costs beside its bytes, in bytes; and of both, what goes by between questions.
constexpr uint64_t kOfARecord = 64, kUnaskedMax = 1 << 16;
/// Of hits that are under way in a thread: one, and those of handlers of signals around it.
constexpr uint64_t kUnderWayMax = 4 * uint64_t{TRACEWELL_RECORD_MAX};

template <class Number>
Number load(Number& number) {
  return std::atomic_ref(number).load(std::memory_order_acquire);
}
template <class Number>
void store(Number& number, std::type_identity_t<Number> value) {
  std::atomic_ref(number).store(value, std::memory_order_release);
}

}  // namespace

RingReader::RingReader(std::span<uint8_t> memory, const AreaShape& shape, size_t visited_at_once)
    : memory_(memory),
      shape_(shape),
      commits_(reinterpret_cast<uint32_t*>(memory.data() + shape.commit_offset())),
      data_(memory.data() + shape.data_offset()),
      seen_(shape.all_rings()),
      taken_(visited_at_once) {
  TW_CHECK(memory.size() >= shape.bytes() && visited_at_once > 0);
}

bool RingReader::is_owned(uint32_t number) const {
  TW_CHECK(number < rings());
  return is_shared(number) || load(ring(number).owner) != 0;
}

uint64_t RingReader::written(uint32_t number) const { return load(ring(number).head); }

/// `written` was looked at before: an origin in front of that has been told by then.
uint64_t RingReader::next(uint32_t number, uint64_t written) const {
  const uint64_t tail = seen_[number].tail;
  const uint64_t ahead = written - tail;
  const uint64_t origin = load(ring(number).origin);
  const bool anew = in_ring(origin) == 0 && origin - tail <= ahead &&
                    origin - tail < shape_.ring_bytes && ahead < 2 * uint64_t{shape_.ring_bytes};
  return anew ? origin : tail;
}

uint64_t RingReader::end(uint64_t tail, uint64_t written) const {
  const uint64_t ahead = written - tail;
  return tail + std::min<uint64_t>(ahead, shape_.ring_bytes) / TRACEWELL_CELL * TRACEWELL_CELL;
}

uint64_t RingReader::used(uint32_t number) const {
  TW_CHECK(number < rings());
  const uint64_t far = written(number);
  return std::min<uint64_t>(far - next(number, far), shape_.ring_bytes);
}

bool RingReader::waiting(uint32_t number) const {
  TW_CHECK(number < rings());
  return is_owned(number) && head(number) != seen_[number].tail;
}

void RingReader::begin(const Visit& visit, const Enough& enough) {
  visit_ = &visit;
  enough_ = enough ? &enough : nullptr;
  unasked_ = 0;
  left_off_ = false;
}

[[gnu::always_inline]] inline bool RingReader::is_enough(uint64_t bytes) {
  unasked_ += bytes;
  if (unasked_ >= kUnaskedMax) ask();
  return left_off_;
}

/// When what was gone through is done with.
void RingReader::ask() {
  visit_taken();
  const uint64_t bytes = std::exchange(unasked_, 0);
  if (enough_ != nullptr && !left_off_) left_off_ = (*enough_)(bytes);
}

/// The thread learns how far we are, and may write there again. Now and then only: it looks at that
/// at each hit, and each change of ours is a line of cache that it has to get.
void RingReader::tell(uint32_t number) {
  visit_taken();
  Seen& seen = seen_[number];
  const uint64_t bytes = seen.tail - std::exchange(seen.counted, seen.tail);
  bytes_read_ += bytes;
  seen.left -= std::min(seen.left, bytes);
  seen.rest -= std::min(seen.rest, bytes);
  if (seen.told == seen.tail) return;
  seen.told = seen.tail;
  store(ring(number).tail, seen.tail);
  if (load(ring(number).impatient) != 0) store(ring(number).impatient, 0);
}

/// To be read so far, if it has that much.
RingReader::Front RingReader::open(uint32_t number, bool ended, uint64_t bytes) {
  const uint64_t far = written(number);
  const uint64_t tail = next(number, far);
  // Where it has begun anew, it may write again to what it has left behind.
  if (seen_[number].tail != tail) {
    seen_[number].counted += tail - seen_[number].tail;
    seen_[number].tail = tail;
  }
  Front front{.ring = number,
              .ended = ended,
              .seen = &seen_[number],
              .commits = commits_ + number * shape_.cells(),
              .data = data_ + uint64_t{number} * shape_.ring_bytes,
              .end = end(tail, far),
              .limit = tail + bytes};
  set_near(front);
  return front;
}

void RingReader::set_near(Front& front) const {
  front.near = std::min({front.end, front.limit, front.seen->told + shape_.ring_bytes / 8});
}

/// Its head at least makes sense, and it does not run past the end of the ring.
[[gnu::always_inline]] inline bool RingReader::holds_record(Front& front, uint64_t bytes) {
  const uint64_t at = in_ring(front.seen->tail);
  if (bytes > shape_.ring_bytes - at) return false;
  tracewell_frame_record& record = front.record;
  std::memcpy(&record, front.data + at, sizeof record);
  if (record.bytes != 0 && (record.bytes < sizeof record || record.bytes > bytes)) return false;
  front.bytes = bytes;
  return true;
}

/// The first record that is finished; mostly it is there, within what was looked at. (One that is
/// not would be larger than that, as its word says.)
[[gnu::always_inline]] inline bool RingReader::find(Front& front) {
  const uint64_t tail = front.seen->tail;
  if (tail < front.near) {
    const uint64_t bytes =
        uint64_t{load(front.commits[in_ring(tail) / TRACEWELL_CELL])} * TRACEWELL_CELL;
    if (bytes != 0 && bytes <= front.end - tail && holds_record(front, bytes)) return true;
  }
  return search(front);
}

/// The first record that is finished. What the thread has to see changed for that is only told
/// where nothing is trusted that was looked at before: once it knows of an empty ring, it may begin
/// anew, and write where we believe something older to be.
bool RingReader::search(Front& front) {
  const uint32_t number = front.ring;
  Seen& seen = seen_[number];
  while (seen.tail < front.limit) {
    if (seen.tail - seen.told >= shape_.ring_bytes / 8) {
      tell(number);
      front.end = open(number, front.ended, 0).end;
    }
    if (seen.tail >= front.end) break;
    const uint32_t word = load(commit_word(number, seen.tail));
    const bool finished = word != 0 && (word & TRACEWELL_RECORD_OPEN) == 0;
    if (!finished && !front.ended) break;
    const uint64_t bytes = uint64_t{word} * TRACEWELL_CELL;
    // The end that was seen may have moved back since, and this record be behind it.
    if (finished && bytes > front.end - seen.tail) front.end = head(number);
    if (finished && bytes <= front.end - seen.tail && holds_record(front, bytes)) {
      set_near(front);
      return true;
    }
    if (finished) ++seen.losses.spoiled;
    else if (word == 0) ++seen.losses.unfinished;
    const Skipped skipped = skip(number, front.end);
    seen.losses.unfinished += skipped.open;
    seen.tail += skipped.bytes;
    if (is_enough(skipped.bytes + kOfARecord)) break;
  }
  tell(number);
  return false;
}

/// The thread does not know yet that it may write there again: that is told by find().
[[gnu::always_inline]] inline bool RingReader::take_first(const Front& front) {
  Seen& seen = *front.seen;
  const uint64_t at = in_ring(seen.tail);
  const uint8_t* const from = front.data + at;
  prefetch(from + kAheadBytes);
  prefetch(from + kAheadBytes + kCacheLine);
  const tracewell_frame_record& record = front.record;
  store(front.commits[at / TRACEWELL_CELL], 0);
  seen.tail += front.bytes;
  if (record.plan == TRACEWELL_NO_PLAN) return false;  // says nothing
  if (record.bytes < sizeof record || record.bytes > front.bytes) {
    ++(record.bytes == 0 ? seen.losses.too_large : seen.losses.spoiled);
    return false;
  }
  taken_[taken_count_++] = {.ring = front.ring,
                            .tid = record.tid & ~TRACEWELL_OWN_NUMBER,
                            .is_own_number = (record.tid & TRACEWELL_OWN_NUMBER) != 0,
                            .plan = record.plan,
                            .ticks = record.ticks,
                            .blocks = {from + sizeof record, record.bytes - sizeof record}};
  if (taken_count_ == taken_.size()) visit_taken();
  return true;
}

void RingReader::visit_taken() {
  const size_t count = std::exchange(taken_count_, 0);
  if (count != 0) (*visit_)(std::span(taken_).first(count));
}

/// From a place without a record that is finished to the next one that is, or to `end`. What was
/// begun there is forgotten.
RingReader::Skipped RingReader::skip(uint32_t number, uint64_t end) {
  const uint64_t begin = seen_[number].tail;
  uint64_t at = begin, open = 0;
  for (; at < end; at += TRACEWELL_CELL) {
    uint32_t& word = commit_word(number, at);
    const uint32_t cells = load(word);
    const bool is_open = (cells & TRACEWELL_RECORD_OPEN) != 0;
    if (at != begin && cells != 0 && !is_open) break;
    open += is_open ? 1 : 0;
    if (cells != 0) store(word, 0);
  }
  return {at - begin, open};
}

void RingReader::open_all() {
  fronts_.clear();
  for (uint32_t number = 0; number < rings() && !left_off_; ++number) {
    if (!waiting(number)) continue;
    Front front = open(number, seen_[number].ended, seen_[number].left);
    if (find(front)) fronts_.push_back(front);
  }
}

uint64_t RingReader::second_earliest() const {
  uint64_t ticks = ~uint64_t{0};
  for (size_t i = 1; i < std::min<size_t>(turns_.size(), 3); ++i)
    ticks = std::min(ticks, turns_[i].ticks);
  return ticks;
}

/// The first one has become later.
void RingReader::put_first_in_order() {
  const Turn first = turns_.front();
  size_t at = 0;
  for (size_t below = 1; below < turns_.size(); below = 2 * at + 1) {
    if (below + 1 < turns_.size() && turns_[below + 1].ticks < turns_[below].ticks) ++below;
    if (first.ticks <= turns_[below].ticks) break;
    turns_[at] = turns_[below];
    at = below;
  }
  turns_[at] = first;
}

size_t RingReader::merge() {
  turns_.clear();
  for (size_t i = 0; i < fronts_.size(); ++i) turns_.push_back({fronts_[i].record.ticks, i});
  std::ranges::make_heap(turns_, std::greater{}, &Turn::ticks);
  size_t taken = 0;
  while (!turns_.empty() && !left_off_) {
    Front& front = fronts_[turns_.front().front];
    const uint64_t next = second_earliest();
    bool more = true;
    while (more && front.record.ticks <= next && !is_enough(front.bytes + kOfARecord)) {
      taken += take_first(front) ? 1 : 0;
      more = find(front);
    }
    turns_.front().ticks = front.record.ticks;
    if (!more) {
      turns_.front() = turns_.back();
      turns_.pop_back();
    }
    if (!turns_.empty()) put_first_in_order();
  }
  return taken;
}

/// What was looked at is looked at again by the next call, so that all that was read can be told.
size_t RingReader::take_all(const Visit& visit, const Enough& enough) {
  begin(visit, enough);
  if (!under_way_)
    for (Seen& seen : seen_) seen.left = std::min<uint64_t>(shape_.ring_bytes, seen.rest);
  under_way_ = true;
  open_all();
  const size_t taken = merge();
  under_way_ = left_off_;
  for (uint32_t number = 0; number < rings() && left_off_; ++number) tell(number);
  return taken;
}

size_t RingReader::take(uint32_t number, bool ended, const Visit& visit, const Enough& enough) {
  TW_CHECK(number < rings());
  begin(visit, enough);
  Front front = open(number, ended, std::min<uint64_t>(shape_.ring_bytes, seen_[number].rest));
  size_t taken = 0;
  while (find(front)) {
    taken += take_first(front) ? 1 : 0;
    if (is_enough(front.bytes + kOfARecord)) break;
  }
  tell(number);
  return taken;
}

/// Several threads may be in a hit of the same ring, each in front of records of others.
void RingReader::take_rest(uint32_t number, std::chrono::steady_clock::time_point until,
                           const Visit& visit, const Enough& enough) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  for (bool last = false; !last && !drained(number);) {
    while (unfinished(number) && now() < until) std::this_thread::yield();
    last = retired(number) || now() >= until;
    take(number, last, visit, enough);
    if (left_off_) return;
  }
}

void RingReader::retire(uint32_t number) {
  TW_CHECK(!is_shared(number));
  Seen& seen = seen_[number];
  seen.rest = std::min(seen.rest, used(number));
  seen.ended = true;
  store(ring(number).owner, TRACEWELL_NOBODY);
}

bool RingReader::drained(uint32_t number) const {
  const Seen& seen = seen_[number];
  return seen.rest == 0 || !is_owned(number) || head(number) == seen.tail;
}

void RingReader::conclude() {
  for (uint32_t number = 0; number < rings(); ++number) {
    Seen& seen = seen_[number];
    seen.rest = std::min(seen.rest, used(number) + kUnderWayMax);
  }
  under_way_ = false;
}

bool RingReader::unfinished(uint32_t number) const {
  if (!waiting(number)) return false;
  const uint32_t word = load(commit_word(number, next(number, written(number))));
  return word == 0 || (word & TRACEWELL_RECORD_OPEN) != 0;
}

void RingReader::make_impatient(uint32_t number) { store(ring(number).impatient, 1); }

void RingReader::forget_vectors(uint32_t number) {
  if (!is_shared(number)) store(vectors(number).generation, 0);
}

size_t RingReader::give_up(uint32_t number, const Visit& visit) {
  TW_CHECK(!is_shared(number));
  const size_t taken = take(number, true, visit);
  Seen& seen = seen_[number];
  seen.losses.no_room += load(ring(number).lost);
  seen.tail = seen.told = seen.counted = 0;
  seen.rest = ~uint64_t{0};
  seen.ended = false;
  forget_vectors(number);
  store(vectors(number).busy, 0);
  store(ring(number).impatient, 0);
  store(ring(number).lost, 0);
  store(ring(number).origin, 0);
  store(ring(number).head, 0);
  store(ring(number).tail, 0);
  store(ring(number).owner, 0);
  return taken;
}

RingLosses RingReader::losses(uint32_t number) const {
  TW_CHECK(number < rings());
  RingLosses losses = seen_[number].losses;
  if (is_owned(number)) losses.no_room += load(ring(number).lost);
  return losses;
}

}  // namespace tracewell::fast
