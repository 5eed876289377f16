// SegmentBuilder: takes steps in order, gives the tables of a segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "model/catalog.h"
#include "model/event.h"
#include "timeline/byte_chains.h"
#include "timeline/cell_history.h"
#include "timeline/key_index.h"
#include "timeline/postings.h"
#include "timeline/segment.h"
#include "timeline/stream_table.h"
#include "timeline/transfers.h"

namespace tracewell::timeline {

class SegmentBuilder {
 public:
  /// Of an access whose bytes are not known no more than this is taken in: nobody touches as much
  /// at once (XSAVE with tiles stores 11 KiB).
  static constexpr uint32_t kAccessMax = 16384;

  /// A thread's registers before its first step (of which `before` tells everything) and behind its
  /// last.
  struct ThreadLook {
    uint64_t tid = 0;
    uint32_t first_step = 0;
    RegisterState first, last;
  };

  /// `catalog` must outlive it.
  explicit SegmentBuilder(const Catalog& catalog)
      : catalog_(catalog), decoder_(catalog.machine) {}

  /// A step, one after the other; nothing may begin a session in between.
  void add(const Event& event);
  uint64_t count() const { return count_; }
  /// Memory taken, roughly.
  size_t size_bytes() const;
  /// By thread.
  std::vector<ThreadLook> thread_looks() const;
  /// The parts, one behind the other; `sizes` of each. The builder is of no use then.
  Pieces finish(std::array<uint64_t, kParts>& sizes);

 private:
  struct PlaceLog {
    PostingList steps;
    PlaceHead head;
    std::array<uint8_t, 15> opcode = {};
    uint8_t opcode_bytes = 0;
  };
  struct ThreadLog {
    PostingList steps;
    RegisterState first, now;
    uint32_t first_step = 0, last_step = 0;
    uint64_t first_pc = 0, last_pc = 0;
    machine::FlowInstruction last_flow = {0, machine::Flow::Onward};
    uint32_t number = 0;  // in the finished table
  };

  PlaceLog& place(uint64_t pc, Bytes opcode);
  void go_on(uint64_t tid, ThreadLog& thread, PlaceLog& here, uint64_t pc);
  void take_registers(ThreadLog& thread, const Step& step, bool first);
  void change(uint32_t index, ChangedBy by);
  void take_access(const Step::MemoryAccess& access);
  Pieces finish_places();
  Pieces finish_registers();
  Pieces finish_threads();
  Pieces finish_cells();
  Pieces finish_transfers();

  const Catalog& catalog_;
  const machine::FlowDecoder decoder_;
  uint32_t count_ = 0;  // the step being taken, once it is
  ByteChains chains_;
  KeyIndex place_keys_, cell_keys_;
  std::deque<PlaceLog> places_;
  std::deque<CellLog> cells_;
  std::vector<PostingList> registers_;  // by register_key
  std::map<uint64_t, ThreadLog> threads_;
  std::vector<std::pair<uint64_t, Transfer>> transfers_;  // with the thread's id
  std::vector<uint8_t> scratch_, stream_;
};

}  // namespace tracewell::timeline
