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

#include "agent/collect_plan.h"
#include "agent/collector.h"
#include "agent/fast_body.h"
#include "agent/variables.h"
#include "axjit/compile.h"
#include "base/bytes.h"
#include "base/death_mark.h"
#include "base/result.h"
#include "fast/area.h"
#include "fast/ring_reader.h"
#include "fast/vector_state.h"
#include "model/registers.h"
#include "target/fast_sites.h"

namespace tracewell::agent {

/// Which tracepoints are fast where they can be.
enum class FastUse : uint8_t { All, Asked, None };
/// nullopt: no such word.
std::optional<FastUse> parse_fast_use(std::string_view word);

class FastTrace {
 public:
  /// Nanoseconds since the Unix epoch.
  using Clock = std::function<int64_t()>;

  struct Hit {
    uint32_t number = 0;  // of the tracepoint
    uint64_t address = 0;
    int64_t tid = 0;
    int64_t time_ns = 0;
    Bytes data;           // a frame's blocks
    CollectFault fault;
    bool condition = false;  // it is the condition that failed: there is no frame
  };

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
  /// Unsupported, with the reason: this one has to be a trap. `variables` are housed here.
  Status insert(const TracepointDef& definition, const CollectPlan& plan,
                const Variables& variables);
  bool has(uint32_t number, uint64_t address) const;
  /// What it has left is still taken.
  void remove(uint32_t number, uint64_t address);

  /// False: no more of them are wanted.
  using Visit = std::function<bool(const Hit&)>;
  /// Takes what has come since, in the order of time. A program may say that this is much, again
  /// and again: what one call does not get to is for later ones, and those that come at once take
  /// nothing.
  void take(const Visit& visit);
  /// All that is there now.
  void take_whole(const Visit& visit);
  /// take() of this thread alone, if its ring is about to be full: enough for a hit.
  void make_room(int64_t tid, const Visit& visit);
  /// A thread is there that has not run yet.
  void thread_begins(const target::FastSites::ThreadBase& thread);
  /// take(), and the thread's ring is free for another, once it was read: the thread runs nothing
  /// of the program any more.
  void thread_ends(int64_t tid, const Visit& visit);
  /// Hits that were not recorded: rings were full, or threads had none.
  uint64_t lost() const;
  /// From now on nothing is recorded. Takes what is left, or what there is time for when the server
  /// is to end; then the rest is lost.
  void close(const Visit& visit);

  /// What the program has done since that its tracepoints have to make up for.
  enum class Change : uint8_t {
    None,
    Faults,   // it would notice loads that fault: all that are there are to be inserted again
    Filters,  // it filters system calls: all that are there are to be traps
    Pages,    // it supplies pages of its memory: the same
    Ticks,    // a thread may not read the time stamp counter: the same
    Inside,   // a thread cannot be led out of placed code: the same
    Code,     // some code is not what it was: those of gone() are to be inserted again
  };
  /// Looks at some of its threads, others each time; what was told is not told again.
  Change look();
  /// Their addresses.
  const std::vector<uint64_t>& gone() const { return gone_; }
  /// After remove(): can it be inserted again? Other code there is not what somebody meant.
  bool is_as_before(uint64_t address) const { return sites_.is_as_before(pid_, address); }

 private:
  struct Point {
    uint32_t number = 0;
    uint64_t address = 0;
    bool removed = false;
  };
  void set_clock(tracewell_area& area);
  void choose_keys(const target::FastSites::ThreadBase& thread);
  void change(uint32_t& number, uint32_t value);
  void prepare_rings();
  std::vector<fast::RingPlace> rings_of(int64_t tid) const;
  Result<uint64_t> place_collector();
  Result<uint64_t> place_body(const TracepointDef& definition, const CollectPlan& plan,
                              const FastBody& body, uint32_t number);
  Status share_area(uint64_t rings_bytes);
  fast::RingReader::Visit to_hits(const Visit& visit);
  fast::RingReader::Enough for_a_while();
  void tell_time();
  void free_drained();
  bool make_frame(const fast::RingRecord& record, Hit& hit);
  Bytes vectors_of(const fast::RecordBlock& change, uint32_t ring);
  void add_block(const tracewell_general& general, Bytes vectors);
  int64_t time_of(uint64_t ticks) const;

  target::FastSites& sites_;
  const RegisterLayout& layout_;
  Clock clock_;
  std::function<bool()> quits_;
  std::chrono::steady_clock::time_point rests_until_;  // since taking has taken long
  bool wanted_ = true;                                 // are hits?
  std::vector<uint32_t> retired_;                      // rings that are still to be read
  std::vector<bool> populated_;                        // rings
  std::vector<axjit::RegisterPlace> places_;
  target::Pid pid_ = 0;
  bool begun_ = false;
  target::FastSites::Processor processor_;
  target::FastSites::Shared shared_;
  fast::AreaShape shape_;
  std::optional<DeathMark> mark_;  // in what is shared
  std::optional<fast::RingReader> reader_;
  tracewell_geometry geometry_{};     // as hits have it
  uint64_t collect_ = 0, calls_ = 0, geometry_at_ = 0;  // addresses in the process
  std::map<int64_t, uint64_t> bases_;  // of fs, by thread
  const char* forbidden_ = nullptr;  // why there can be no more of them
  std::vector<uint64_t> gone_;
  std::vector<tracewell_vector_part> vector_parts_;  // none: vector state comes as a whole
  std::map<uint32_t, fast::VectorState> vectors_;    // by ring
  uint64_t unreadable_ = 0;                          // records
  std::vector<Point> points_;         // by number of their plan
  uint64_t ticks_begin_ = 0, ticks_now_ = 0;
  int64_t ns_begin_ = 0, ns_now_ = 0;
  std::vector<uint8_t> frame_;
};

}  // namespace tracewell::agent
