// FastTrace: the tracepoints of a run that collect inside the traced process. What they leave there
// is taken out and becomes frames like any others.
//
// A tracepoint is fast where everything that it asks for can be done inside; the rest are traps,
// and the debugger need not know.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/engine/collect_plan.h"
#include "agent/engine/collector.h"
#include "agent/engine/hit_way.h"
#include "agent/engine/variables.h"
#include "agent/fast/fast_body.h"
#include "agent/fast/fast_hits.h"
#include "agent/fast/read_pace.h"
#include "agent/fast/thread_numbers.h"
#include "axjit/compile.h"
#include "base/bytes.h"
#include "base/process/death_mark.h"
#include "base/result.h"
#include "base/share_of_time.h"
#include "fast/area.h"
#include "fast/known_ranges.h"
#include "fast/ring_reader.h"
#include "fast/tick_clock.h"
#include "fast/unchanged_pages.h"
#include "fast/vector_state.h"
#include "model/registers.h"
#include "target/fast_sites.h"
#include "target/trap_reason.h"

namespace tracewell::agent {

/// Which tracepoints are fast where they can be.
enum class FastUse : uint8_t { All, Asked, None };
/// nullopt: no such word.
std::optional<FastUse> parse_fast_use(std::string_view word);

class FastTrace {
 public:
  /// Nanoseconds since the Unix epoch.
  using Clock = std::function<int64_t()>;

  /// `quits`: is the server to end?
  FastTrace(target::FastSites& sites, const RegisterLayout& layout, Clock clock,
            std::function<bool()> quits);
  ~FastTrace();
  FastTrace(const FastTrace&) = delete;
  FastTrace& operator=(const FastTrace&) = delete;

  /// Makes everything ready in the process, with rings whose memory is bounded by a share of the
  /// trace buffer's size, and by `rings_bytes_max`. Errors say why there can be no fast
  /// tracepoints.
  Status begin(target::Pid pid, uint64_t buffer_bytes, uint64_t rings_bytes_max);
  /// Trace state variables live in the process from now on, until they come home.
  void house(Variables& variables);
  /// After one of them has got another number.
  void name_builtins(const Variables& variables);
  /// What a hit costs. Otherwise why this one has to be a trap. `variables` are housed here.
  Result<HitCost> insert(const TracepointDef& definition, const CollectPlan& plan,
                         const Variables& variables);
  /// Before commit(), while threads run: what may take long and has to be done by then.
  void expect_hits() { sites_.expect_hits(pid_); }
  /// What was inserted since begin() takes effect, all of it while threads stand still. Addresses
  /// that have to be traps, since their code is not what it was.
  std::vector<uint64_t> commit();
  bool has(uint32_t number, uint64_t address) const;
  /// Is the place a pad still? One that has become a trap leaves its hits as others do.
  bool stands(uint64_t address) const { return sites_.stands(pid_, address); }
  /// What it has left is still taken.
  void remove(uint32_t number, uint64_t address);

  /// How much is taken at a time: a program may say that there is much, again and again. What one
  /// call does not get to is for later ones.
  enum class Share : uint8_t {
    Some,  // while other threads and the debugger wait for their turn
    Most,  // for an answer that somebody waits for
    All,   // that is there now, unless it takes a second
  };
  /// Takes what has come since, in the order of time.
  void take(FastHits& hits, Share share);
  /// take() of this thread alone, if its ring is about to be full: enough for a hit.
  void make_room(int64_t tid, FastHits& hits);
  /// A thread is there that has not run yet.
  void thread_begins(const target::FastSites::ThreadBase& thread);
  /// take(), and the thread's ring is free for another, once it was read: the thread runs nothing
  /// of the program any more.
  void thread_ends(int64_t tid, FastHits& hits);
  HitLosses losses() const;
  /// From now on nothing is recorded. Takes what is left, or what there is time for when the server
  /// is to end; then the rest is lost.
  void close(FastHits& hits);

  /// What the program has done since that its tracepoints have to make up for.
  enum class Change : uint8_t {
    None,
    Faults,   // it would notice loads that fault: all that are there are to be inserted again
    Filters,  // it filters system calls: all that are there are to be traps
    Pages,    // it supplies pages of its memory: the same
    Ticks,    // a thread may not read the time stamp counter: the same
    Inside,   // a thread cannot be led out of placed code: the same
    Code,     // some code is not what it was: those of gone() are to be inserted again
    Handlers,  // it has new handlers of faults: learn_handlers()
  };
  /// Looks at some of its threads, others each time; what was told is not told again.
  Change look();
  /// While the program stands still, after Change::Faults or Handlers: if they can be put back when
  /// the kernel takes them away, memory is read by loads all the same.
  void learn_handlers();
  /// One may do harm from now on: none until the next look().
  void stop_loads();
  /// What has been done for handlers of the program's; "" = nothing.
  std::string text_of_handlers() const;
  /// Their addresses.
  const std::vector<uint64_t>& gone() const { return gone_; }
  /// After remove(): can it be inserted again? Other code there is not what somebody meant.
  bool is_as_before(uint64_t address) const { return sites_.is_as_before(pid_, address); }

 private:
  struct Point {
    FastPlace place;
    bool removed = false;
    bool is_plain = false;  // its records may be a frame's blocks as they stand
  };
  void set_clock(tracewell_area& area);
  void choose_keys(const target::FastSites::ThreadBase& thread);
  void take_thread(const target::FastSites::ThreadBase& thread);
  void give_ring(uint64_t key, int64_t tid);
  void populate();
  void change(uint32_t& number, uint32_t value);
  void prepare_rings();
  bool forget_thread(int64_t tid);
  std::vector<fast::RingPlace> rings_of(int64_t tid) const;
  Result<uint64_t> place_collector();
  Result<uint64_t> place_body(const TracepointDef& definition, const CollectPlan& plan,
                              const FastBody& body, uint32_t number);
  Status share_area(uint64_t rings_bytes);
  fast::RingReader::Visit to_hits(FastHits& hits);
  void take_records(std::span<const fast::RingRecord> records, FastHits& hits);
  size_t find_plain(std::span<const fast::RingRecord> records);
  void take_record(const fast::RingRecord& record, FastHits& hits);
  int64_t tid_of(const fast::RingRecord& record) const;
  fast::RingReader::Enough for_a_while(Share share);
  void tell_time();
  void look_at_memory(const target::FastSites::Conduct& now);
  void free_drained();
  bool make_frame(const fast::RingRecord& record, FastHit& hit);
  Bytes vectors_of(const fast::RecordBlock& change, uint32_t ring);
  void add_block(const tracewell_general& general, Bytes vectors);

  target::FastSites& sites_;
  const RegisterLayout& layout_;
  Clock clock_;
  std::function<bool()> quits_;
  ReadPace pace_;
  bool wanted_ = true;                                 // are hits?
  std::vector<uint32_t> retired_;                      // rings that are still to be read
  std::vector<bool> populated_;                        // rings: they are, or will be soon
  std::vector<target::FastSites::Range> unpopulated_;  // parts of what is shared: not yet
  std::vector<axjit::RegisterPlace> places_;
  target::Pid pid_ = 0;
  bool begun_ = false;
  target::FastSites::Processor processor_;
  target::FastSites::Shared shared_;
  fast::AreaShape shape_;
  std::optional<DeathMark> mark_;  // in what is shared
  std::optional<fast::RingReader> reader_;
  std::optional<fast::KnownRanges> known_;  // where faults of loads can be mended
  std::chrono::steady_clock::time_point mapped_at_, learned_at_;  // the last looks at them
  ShareOfTime looks_at_maps_{99};
  bool maps_changed_ = false;
  tracewell_geometry geometry_{};     // as hits have it
  uint64_t collect_ = 0, calls_ = 0, geometry_at_ = 0;  // addresses in the process
  std::map<int64_t, uint64_t> bases_;  // of fs, by thread
  ThreadNumbers numbers_;
  target::TrapReason forbidden_ = target::TrapReason::None;  // why there can be no more of them
  std::vector<uint64_t> gone_;
  std::vector<tracewell_vector_part> vector_parts_;  // none: vector state comes as a whole
  std::map<uint32_t, fast::VectorState> vectors_;    // by ring
  HitLosses lost_;                                   // that no ring tells of
  std::vector<Point> points_;         // by number of their plan
  std::map<uint64_t, size_t> there_;  // of these, by address: those that are not removed
  fast::TickClock times_;
  fast::UnchangedPages unchanged_{[this](uint64_t address, uint64_t bytes) {
    return sites_.is_changed(pid_, address, bytes);
  }};
  std::vector<uint8_t> copy_, frame_;
  std::vector<PlainHit> plain_;
};

}  // namespace tracewell::agent
