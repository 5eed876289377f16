// RingReader: takes records out of the rings of an area, while the process's threads go on putting
// them in, and after they have ended.
//
// The process may write anything over the area at any time. So nothing there is believed: how far a
// ring was read is kept here, sizes are checked, and who wants to look at a record copies it first.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "fast/area.h"

namespace tracewell::fast {

struct RingRecord {
  uint32_t ring = 0;
  uint32_t tid = 0;  // as the thread said, or its tracer
  bool is_own_number = false;  // what the thread knows itself by
  uint32_t plan = 0;
  uint64_t ticks = 0;
  /// Where the process has them: they are there during the visit, but may change at any time, and
  /// are to be copied before they are looked at.
  Bytes blocks;
};

/// What is missing of one ring, counted since it was made.
struct RingLosses {
  uint64_t no_room = 0;     // hits that found the ring full
  uint64_t too_large = 0;   // records that did not fit what was reserved for them
  uint64_t unfinished = 0;  // records of threads that were killed meanwhile
  uint64_t spoiled = 0;     // places where the program has written over a ring

  uint64_t all() const { return no_room + too_large + unfinished + spoiled; }
};

class RingReader {
 public:
  /// Gets them in their order, many at a time: a call for each would take as long as to read it.
  using Visit = std::function<void(std::span<const RingRecord>)>;
  /// Asked now and then while records are taken, with how many bytes have been gone through since:
  /// is that enough for now?
  using Enough = std::function<bool(uint64_t bytes)>;

  static constexpr size_t kVisitedAtOnce = 256;

  /// `memory` was given to make_area() with this shape, and outlives this. One reader at a time.
  RingReader(std::span<uint8_t> memory, const AreaShape& shape,
             size_t visited_at_once = kVisitedAtOnce);

  uint32_t rings() const { return shape_.all_rings(); }
  /// Is it one that several threads write to?
  bool is_shared(uint32_t ring) const { return ring >= shape_.rings; }
  /// May somebody write to it?
  bool is_owned(uint32_t ring) const;

  /// How many bytes of it.
  uint64_t used(uint32_t ring) const;
  /// Is anything there that could be taken?
  bool waiting(uint32_t ring) const;
  /// Takes what is there of all rings, the earliest first. Records of one ring come in the order
  /// in which they were begun. At most a ring's size of each, so that a program cannot hold us up:
  /// what is added meanwhile may have to wait for the next call. Where it is `enough` before that,
  /// the next call goes on, and no ring has more than its size of both: whose records say that they
  /// are early keeps nobody else's waiting. Returns how many records there were.
  size_t take_all(const Visit& visit, const Enough& enough = {});
  /// The same of one ring. With `ended`, when no thread writes to it any more, what follows a
  /// record that was not finished is taken as well.
  size_t take(uint32_t ring, bool ended, const Visit& visit, const Enough& enough = {});
  /// All that there will be of one ring, behind conclude(). Waits up to then for hits that are
  /// under way; what is not finished by then is lost, and what follows it is taken.
  void take_rest(uint32_t ring, std::chrono::steady_clock::time_point until, const Visit& visit,
                 const Enough& enough);
  /// Of all rings ever.
  uint64_t bytes_read() const { return bytes_read_; }
  /// Did the last call leave off since that was enough?
  bool left_off() const { return left_off_; }
  /// take() with `ended`, then the ring is free for another thread. What it has lost stays counted.
  /// Not of one that is shared; nor is the next.
  size_t give_up(uint32_t ring, const Visit& visit);
  /// Its thread has ended: the ring is nobody's, take_all() takes what it holds now, and then it
  /// can be given up. Another thread that looks as the last one did gets another ring.
  void retire(uint32_t ring);
  bool retired(uint32_t ring) const { return seen_[ring].ended; }
  /// Of a retired ring.
  bool drained(uint32_t ring) const;
  /// No hit begins any more: of each ring there is what it holds now, and what is under way. Calls
  /// take no more than that, all of them together, and the next one begins anew.
  void conclude();
  /// Until the ring is read again its threads do not wait for room.
  void make_impatient(uint32_t ring);
  /// Its thread's next record tells of all of its vector state.
  void forget_vectors(uint32_t ring);
  /// Is there a record that was begun and is not finished, before all that could be taken?
  bool unfinished(uint32_t ring) const;

  RingLosses losses(uint32_t ring) const;

 private:
  struct Seen {
    uint64_t tail = 0;
    uint64_t told = 0;  // `tail`, as the thread knows it
    uint64_t counted = 0;  // `tail`, as far as it is in the sums below
    uint64_t left = 0;  // bytes of the round of take_all() that is under way
    uint64_t rest = ~uint64_t{0};  // bytes that may be taken at all
    bool ended = false;
    RingLosses losses;  // no_room: of former owners
  };
  /// A ring that is being read: its first record, and how far to go.
  struct Front {
    uint32_t ring = 0;
    bool ended = false;
    Seen* seen = nullptr;
    uint32_t* commits = nullptr;    // the ring's
    const uint8_t* data = nullptr;  // likewise
    uint64_t end = 0;    // as far as was written when it was looked at
    uint64_t limit = 0;
    uint64_t near = 0;   // up to there, neither of them is met, and the thread need not be told
    uint64_t bytes = 0;  // of the record at the tail, with what fills its last cell
    tracewell_frame_record record{};  // its head
  };
  struct Turn {
    uint64_t ticks;
    size_t front;
  };
  tracewell_area& area() const { return *reinterpret_cast<tracewell_area*>(memory_.data()); }
  tracewell_frame_ring& ring(uint32_t number) const {
    return reinterpret_cast<tracewell_frame_ring*>(memory_.data() + shape_.rings_offset())[number];
  }
  tracewell_vectors& vectors(uint32_t number) const {
    return reinterpret_cast<tracewell_vectors*>(memory_.data() + shape_.vectors_offset())[number];
  }
  uint64_t in_ring(uint64_t position) const { return position & (shape_.ring_bytes - 1); }
  uint32_t& commit_word(uint32_t ring, uint64_t position) const {
    return commits_[ring * shape_.cells() + in_ring(position) / TRACEWELL_CELL];
  }
  /// How far it is written, as was just seen; never more than a ring's size ahead of what was read.
  uint64_t head(uint32_t ring) const { return end(seen_[ring].tail, written(ring)); }
  uint64_t end(uint64_t tail, uint64_t written) const;
  uint64_t written(uint32_t ring) const;
  /// Where the next record is, if the thread has begun anew before it had written so far.
  uint64_t next(uint32_t ring, uint64_t written) const;
  Front open(uint32_t ring, bool ended, uint64_t bytes);
  void begin(const Visit& visit, const Enough& enough);
  bool is_enough(uint64_t bytes);
  void ask();
  bool find(Front& front);
  bool search(Front& front);
  bool holds_record(Front& front, uint64_t bytes);
  void set_near(Front& front) const;
  bool take_first(const Front& front);
  void visit_taken();
  void tell(uint32_t ring);
  struct Skipped {
    uint64_t bytes = 0, open = 0;  // open: records that were begun
  };
  Skipped skip(uint32_t ring, uint64_t end);
  size_t merge();
  uint64_t second_earliest() const;
  void put_first_in_order();
  void open_all();

  std::span<uint8_t> memory_;
  AreaShape shape_;
  uint32_t* commits_;    // in the memory
  const uint8_t* data_;  // likewise
  std::vector<Seen> seen_;
  std::vector<Front> fronts_;
  std::vector<Turn> turns_;  // a heap, the earliest first
  std::vector<RingRecord> taken_;  // and not visited yet: no thread writes there before that
  size_t taken_count_ = 0;
  uint64_t bytes_read_ = 0;
  bool under_way_ = false;  // a round of take_all()
  const Visit* visit_ = nullptr;
  const Enough* enough_ = nullptr;
  uint64_t unasked_ = 0;    // bytes since that was asked
  bool left_off_ = false;
};

}  // namespace tracewell::fast
