// SegmentBuilder: takes steps in order, gives the tables of a segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "machine/operands.h"
#include "model/catalog.h"
#include "model/event.h"
#include "timeline/calls/transfers.h"
#include "timeline/index/segment.h"
#include "timeline/index/thread_states.h"
#include "timeline/memory/cell_history.h"
#include "timeline/memory/large_accesses.h"
#include "timeline/memory/openings.h"
#include "timeline/memory/successors.h"
#include "timeline/streams/byte_chains.h"
#include "timeline/streams/key_index.h"
#include "timeline/streams/postings.h"
#include "timeline/streams/stream_table.h"

namespace tracewell::timeline {

class SegmentBuilder {
 public:
  /// Of an access whose bytes are not known, no more than this goes into the histories: nobody
  /// touches as much at once (XSAVE with tiles stores 11 KiB). For the rest see large_accesses.h.
  static constexpr uint32_t kAccessMax = 16384;
  /// Such accesses take a few bytes of a trace each, whatever they say that they touch. So many
  /// cells, and some for each step, may be of those that are larger than a register; from then on
  /// a step's accesses are no larger in the histories than this.
  static constexpr uint64_t kUntoldCells = 1 << 16, kUntoldCellsOfStep = 2;
  static constexpr uint32_t kScarceAccessMax = 64;

  /// Where a thread comes in, and where it leaves: steps, from where the segment begins.
  struct ThreadSpan {
    uint64_t tid = 0;
    uint32_t first = 0, last = 0;
    ThreadEnds ends;
  };

  /// `catalog` must outlive it. `begins`: a session, with the first step.
  SegmentBuilder(const Catalog& catalog, bool begins)
      : decoder_(catalog.machine), begins_(begins), states_(catalog.registers) {}

  /// A step, one after the other; nothing may begin a session in between.
  void add(const Event& event);
  /// The trace has lost something before the step that comes next.
  void lose();
  uint64_t count() const { return count_; }
  /// Memory taken, roughly.
  size_t size_bytes() const;
  /// By thread.
  std::vector<ThreadSpan> thread_spans() const;
  /// Steps before which something was lost, the first and the last; nothing: none.
  const std::optional<std::pair<uint32_t, uint32_t>>& losses() const { return losses_; }
  /// The parts. `ends`: a session, with the last step. The builder is of no use then.
  std::vector<Pieces> finish(bool ends);

 private:
  struct PlaceLog {
    PostingList steps;
    PlaceHead head;
    std::array<uint8_t, 15> opcode = {};
    uint8_t opcode_bytes = 0;
    bool known = false;   // the instruction
    bool leaves = false;  // as FlowInstruction, or nobody knows the instruction
  };
  struct ThreadLog {
    PostingList steps;
    uint32_t first_step = 0, last_step = 0;
    bool after_known = true;            // of that step
    std::vector<uint32_t> to_unknown;   // registers that it changed, nobody knows to what
    uint64_t first_pc = 0, last_pc = 0;
    machine::FlowInstruction last_flow = {0, machine::Flow::Onward};
    uint32_t number = 0;  // in the order in which they come
  };
  /// A change by an instruction that was not known to be one until later.
  struct LateChange {
    uint32_t key = 0, step = 0;
    auto operator<=>(const LateChange&) const = default;
  };

  PlaceLog& place(uint64_t pc, Bytes opcode);
  /// Has the trace lost something since the thread's last step?
  bool lost_behind(const ThreadLog& thread) const {
    return losses_ && losses_->second > thread.last_step;
  }
  ThreadEnds ends_of(const ThreadLog& thread) const;
  void go_on(uint64_t tid, ThreadLog& thread, PlaceLog& here, uint64_t pc);
  void take_registers(ThreadLog& thread, const Step& step, bool first);
  void change(uint32_t index, ChangedBy by);
  void change_late(uint32_t index, uint32_t step);
  void add_late(std::span<const LateChange> late, PostingList& list);
  void look_for_opening(uint64_t tid, const Step& step);
  uint32_t room_for_untold(const Step& step);
  bool is_cut(const Step::MemoryAccess& access) const;
  bool others_write_within(const Step& step);
  void take_rest(const Step::MemoryAccess& access);
  void take_access(const Step::MemoryAccess& access, bool leaves);
  Pieces finish_places();
  Pieces finish_registers();
  Pieces finish_threads(bool session_ends);
  Pieces finish_openings();
  Pieces finish_cells(const Pieces& openings);
  Pieces finish_transfers();

  const machine::FlowDecoder decoder_;
  std::optional<machine::InstructionDecoder> operands_;  // once somebody asks
  const bool begins_;
  uint32_t count_ = 0;  // the step being taken, once it is
  std::optional<std::pair<uint32_t, uint32_t>> losses_;
  ByteChains chains_;
  KeyIndex place_keys_, cell_keys_;
  std::deque<PlaceLog> places_;
  std::deque<CellLog> cells_;
  std::vector<PostingList> registers_;  // by register_key
  std::vector<LateChange> late_;
  std::map<uint64_t, ThreadLog> threads_;
  ThreadStates states_;  // by ThreadLog::number
  std::vector<std::pair<uint64_t, Transfer>> transfers_;  // with the thread's id
  PostingList within_, between_;      // OpeningKey
  std::vector<LargeAccess> large_;
  uint64_t untold_cells_ = 0;         // entries of accesses of which no content is told
  uint32_t access_max_ = kAccessMax;  // of these, in the step being taken
  uint64_t tid_ = 0;                  // of the step before
  Successors successors_;             // of the step before
  std::optional<Opening> opening_;    // the last one
  std::vector<uint8_t> scratch_, stream_;
};

}  // namespace tracewell::timeline
