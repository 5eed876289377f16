// Threads of a traced program, and the rings that they write to.
#include "agent/fast/fast_trace.h"

#include <algorithm>
#include <utility>

namespace tracewell::agent {
namespace {

constexpr size_t kRingsOfOne = 8;  // of one thread, by all the ways in which it may be known
constexpr uint64_t kRoomBytes = 2 * uint64_t{TRACEWELL_RECORD_MAX};

}  // namespace

void FastTrace::thread_begins(const target::FastSites::ThreadBase& thread) {
  take_thread(thread);
  populate();
}

/// Looked at before it runs: can its ring be found as those of the others are? It has one then, so
/// that it need not ask for its id.
void FastTrace::take_thread(const target::FastSites::ThreadBase& thread) {
  if (shared_.bytes.empty()) return;
  numbers_.add(thread.tid, thread.own);
  if (thread.fs_base != 0) choose_keys(thread);
  const bool by_id = geometry_.keys == TRACEWELL_KEYS_THREAD_ID || thread.fs_base == 0;
  give_ring(by_id ? uint64_t{numbers_.own(thread.tid)} * 2 + 1 : thread.fs_base, thread.tid);
}

void FastTrace::give_ring(uint64_t key, int64_t tid) {
  const fast::RingPlace place =
      fast::claim_ring(shared_.bytes, shape_, key, static_cast<uint32_t>(tid));
  if (populated_.size() <= place.ring) populated_.resize(shape_.all_rings());
  if (populated_[place.ring]) return;
  populated_[place.ring] = true;
  const auto want = [this](uint64_t start, uint64_t bytes) {
    unpopulated_.push_back({start, start + bytes});
  };
  if (!place.is_shared)
    want(shape_.vectors_offset() + place.ring * sizeof(tracewell_vectors),
         sizeof(tracewell_vectors));
  want(shape_.commit_offset() + place.ring * shape_.cells() * sizeof(uint32_t),
       shape_.cells() * sizeof(uint32_t));
  want(shape_.data_offset() + uint64_t{place.ring} * shape_.ring_bytes, shape_.ring_bytes);
}

void FastTrace::populate() {
  if (!unpopulated_.empty()) sites_.populate(pid_, std::exchange(unpopulated_, {}));
}

void FastTrace::choose_keys(const target::FastSites::ThreadBase& thread) {
  const bool alone = !thread.is_other && std::ranges::none_of(bases_, [&](const auto& one) {
    return one.first != thread.tid && one.second == thread.fs_base;
  });
  bases_[thread.tid] = thread.fs_base;
  if (!alone && geometry_.keys != TRACEWELL_KEYS_THREAD_ID) {
    change(geometry_.keys, TRACEWELL_KEYS_THREAD_ID);
    // They have entries by other keys; by these, nobody would know whose their numbers are.
    for (const auto& [tid, base] : bases_)
      if (numbers_.differ(tid)) give_ring(uint64_t{numbers_.own(tid)} * 2 + 1, tid);
  } else if (alone && !thread.points_to_itself && geometry_.keys == TRACEWELL_KEYS_SELF) {
    change(geometry_.keys, TRACEWELL_KEYS_FS_BASE);
  }
}

/// Threads have their rings before they hit, with memory: a page that is touched for the first time
/// costs the program as much as hundreds of hits.
void FastTrace::prepare_rings() {
  const auto threads = sites_.threads(pid_);
  geometry_.keys = TRACEWELL_KEYS_SELF;
  for (const auto& thread : threads)
    if (thread.fs_base != 0) choose_keys(thread);
  unpopulated_.push_back({0, shape_.vectors_offset()});
  for (const auto& thread : threads) take_thread(thread);
  populate();
}

void FastTrace::free_drained() {
  std::erase_if(retired_, [this](uint32_t ring) {
    if (!reader_->drained(ring)) return false;
    reader_->give_up(ring, [](std::span<const fast::RingRecord>) {});
    vectors_.erase(ring);
    return true;
  });
}

/// A program may say that all of them are.
std::vector<fast::RingPlace> FastTrace::rings_of(int64_t tid) const {
  auto out =
      fast::places_of(shared_.bytes, shape_, static_cast<uint32_t>(tid), numbers_.own(tid));
  if (out.size() > kRingsOfOne) out.resize(kRingsOfOne);
  return out;
}

void FastTrace::make_room(int64_t tid, FastHits& taker) {
  if (!reader_) return;
  for (const fast::RingPlace& place : rings_of(tid)) {
    const uint32_t ring = place.ring;
    if (reader_->retired(ring) || reader_->used(ring) <= shape_.ring_bytes / 2) continue;
    // What a record costs beside its bytes is counted, too: twice as much at most.
    reader_->take(ring, false, to_hits(taker), [taken = uint64_t{0}](uint64_t bytes) mutable {
      return (taken += bytes) >= 3 * kRoomBytes;
    });
    // Where there is none the program has written over the ring, or a record in front is not
    // finished. Others stand still while this thread is led on.
    const uint64_t room = shape_.ring_bytes - reader_->used(ring);
    if (room < std::min(kRoomBytes, shape_.ring_bytes / uint64_t{2}))
      reader_->make_impatient(ring);
  }
}

/// Is there something of it in its rings?
bool FastTrace::forget_thread(int64_t tid) {
  bases_.erase(tid);
  bool any = false;
  for (const fast::RingPlace& place : rings_of(tid)) {
    if (place.is_shared || reader_->retired(place.ring)) continue;
    any = any || reader_->waiting(place.ring);
    reader_->retire(place.ring);
    retired_.push_back(place.ring);
  }
  fast::forget_threads(shared_.bytes, shape_, static_cast<uint32_t>(tid), numbers_.own(tid));
  numbers_.end(tid);
  return any;
}

void FastTrace::thread_ends(int64_t tid, FastHits& taker) {
  if (!reader_) return;
  if (forget_thread(tid)) take(taker, Share::Some);
  else free_drained();
}

}  // namespace tracewell::agent
