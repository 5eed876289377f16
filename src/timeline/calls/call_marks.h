// Call marks: which calls a thread is inside of, wherever one asks. A segment's Transfers know
// nothing of what came before it, and to go through all of them takes long. So for each chunk of
// them there is a record of what it left open, which tells of no call twice: what was open before
// stands in an earlier record. A table by thread; a thread's stream is
//
//   u8 bit 0: its first step has arrived from the segment before by a call or a return, bit 1: by a
//   return · if it has: varint address of arrival, for calls varint address behind the call, as a
//   signed distance from that · varint records · u32 offset of each but the first, in what follows
//   · records
//   record: varint calls from before the chunk that are open at its end; if there are any: varint
//   steps by which the innermost of these has arrived before the chunk's first entry · varint its
//   own calls that are open at its end; the numbers of their entries, as varint distances, the
//   first from 0 · varint returns that no call of the chunk waits for; for each, a varint: how many
//   calls from before it ended
//
// The stream's first step is that of the first entry. The chunks are those of the thread's
// Transfers; the arrival from the segment before is an entry in front of the first one's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "machine/call_stack.h"
#include "timeline/calls/transfers.h"
#include "timeline/index/segment.h"
#include "timeline/index/segment_builder.h"

namespace tracewell::timeline {

/// Does the flow of a thread lead from its last step in one segment to its first in another one by
/// a call or a return? That arrival; `step` is that of the thread's first one there.
std::optional<Transfer> arrival_between(const ThreadEnds& before, const ThreadEnds& now,
                                        uint32_t step);

/// Goes over the segments of a trace in order. Memory grows with the depth of calls.
class CallMarksWriter {
 public:
  /// Segments of one session have the same number; nothing of another session holds.
  void begin_session(uint64_t session);
  /// The table of the next segment, which begins with step `first`. `threads` by id, `loss_end` as
  /// Segment::loss_end, `transfers` its table. Empty when there is nothing to tell; nullopt when
  /// the table is none that a segment has.
  std::optional<Pieces> take(uint64_t first, std::span<const SegmentBuilder::ThreadSpan> threads,
                             uint64_t loss_end, const StreamTable& transfers);
  /// The same of one that is there, with nothing left out, though nobody vouches for it.
  std::optional<Pieces> take_over(const Segment& segment);

 private:
  struct Thread {
    machine::CallStack backs;
    std::vector<uint64_t> steps;  // of the open calls: the first one in the function
    uint64_t last = 0;            // step
    ThreadEnds ends;              // of the last segment
  };
  std::optional<uint32_t> write_records(Thread& thread, uint64_t first,
                                        const std::optional<Transfer>& arrival,
                                        const Transfers& own, size_t bytes,
                                        std::vector<uint8_t>& out);
  void write_record(Thread& thread, uint64_t first, std::span<const Transfer> entries,
                    std::vector<uint8_t>& out);

  uint64_t session_ = UINT64_MAX;
  uint64_t loss_ = 0;  // the step behind the last loss
  std::map<uint64_t, Thread> threads_;
};

/// Reads a thread's marks and transfers in a segment in place, and looks at no more than it must.
class CallMarks {
 public:
  struct Record {
    uint64_t beneath = 0;       // calls from before the chunk that are open at its end
    uint64_t beneath_step = 0;  // the innermost of these has arrived there; of the trace
    std::vector<uint32_t> open;   // numbers of entries
    std::vector<uint64_t> ended;  // by each return that no call of the chunk waits for
  };

  /// `segment` must outlive it.
  CallMarks(const Segment& segment, uint64_t tid);

  /// Has the thread any entry here?
  bool any() const { return chunks_ != 0; }
  size_t chunks() const { return chunks_; }
  /// Of the trace: the step of a chunk's first entry.
  uint64_t first(size_t chunk) const;
  /// The last chunk that does not begin behind a step of the trace, or the first one.
  size_t chunk_of(uint64_t step) const;
  /// What a chunk has left; false at damage.
  bool read(size_t chunk, Record& record) const;
  /// Its entries; false at damage.
  bool entries(size_t chunk, std::vector<Transfer>& out) const;

 private:
  const Segment& segment_;
  uint32_t first_ = 0;
  size_t chunks_ = 0;
  std::optional<Transfer> arrival_;
  Transfers transfers_;
  const uint8_t* offsets_ = nullptr;
  Bytes records_;
};

}  // namespace tracewell::timeline
