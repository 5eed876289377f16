// Segment: the index of a run of steps, read in place. It knows nothing of what came before, so
// that segments can be made side by side; the Timeline puts them together.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "machine/control_flow.h"
#include "timeline/index/sums.h"
#include "timeline/streams/postings.h"
#include "timeline/streams/stream_table.h"

namespace tracewell::timeline {

/// The tables of a segment, in this order.
enum class Part : uint8_t {
  Executions,  // by address: u8 PlaceHead, then the steps
  Registers,   // by register_key: the steps
  Threads,     // by thread: u8 bit 0: are there ThreadEnds, 1..2: their losses; these, the steps
  Cells,       // by address / 8: CellHistory
  Transfers,   // by thread: calls and returns, where they arrive (transfers.h)
  Openings,    // by OpeningKey (openings.h)
};
constexpr size_t kParts = 6;

/// By the instruction of a step; or by somebody else before a step, since its thread's last one.
enum class ChangedBy : uint8_t { Instruction, Others };
inline uint64_t register_key(uint32_t index, ChangedBy by) {
  return uint64_t{index} * 2 + static_cast<uint64_t>(by);
}

/// Of an executed address: bits 0..1 machine::Flow, bit 2: something came there otherwise than from
/// the instruction before it; bits 3..6 its length.
struct PlaceHead {
  machine::FlowInstruction flow = {0, machine::Flow::Onward};
  bool entered = false;
};

/// Where a thread comes in, and how it leaves: varint first_pc · varint last_pc, as a signed
/// distance from that · u8 last_flow, as in PlaceHead. A session's only segment has none.
struct ThreadEnds {
  uint64_t first_pc = 0, last_pc = 0;
  machine::FlowInstruction last_flow = {0, machine::Flow::Onward};
  bool lost_before = false, lost_behind = false;  // in the segment, of the trace
};

struct Segment {
  uint64_t first = 0;    // step
  uint64_t count = 0;    // of steps, less than 2^32
  uint64_t session = 0;  // number
  std::array<Bytes, kParts> parts;
  Bytes seams;  // like Registers, of changes that no segment shows by itself
  /// The step, from where the segment begins, before which the trace has lost something last, and
  /// one more; 0 = it has not.
  uint64_t loss_end = 0;
  /// An opening that is not within a step lies in front of its first one: another thread than that
  /// of the session's step before begins the segment, or the thread goes on where that step does
  /// not lead.
  bool opened = false;
  /// By thread: which calls are open where (call_marks.h). Nothing where Transfers are left out.
  Bytes call_marks;
  std::shared_ptr<const Sums> call_sums;  // of call_marks; none = nobody can have changed them
  std::shared_ptr<const Sums> sums;  // of all parts; none = nobody can have changed them
  /// Parts that are not there, because the index would be too large with them: bit by Part. Who
  /// asks for one sets `wanted`.
  uint8_t left_out = 0;
  std::shared_ptr<std::atomic<bool>> wanted;

  uint64_t end() const { return first + count; }
  /// What is found in it agrees with the sums; what does not is not found, and told to these.
  StreamTable table(Part part) const {
    if ((left_out >> static_cast<size_t>(part) & 1) != 0) want();
    return StreamTable(parts[static_cast<size_t>(part)], sums.get());
  }
  /// A part is there, and agrees. Wants nothing.
  bool has(Part part) const {
    const auto number = static_cast<size_t>(part);
    return (left_out >> number & 1) == 0 && timeline::good(sums.get(), parts[number]);
  }
  /// All of it is there, and agrees.
  bool good() const {
    if (left_out != 0) want();
    return left_out == 0 && (!sums || sums->good()) && (!call_sums || call_sums->good());
  }

 private:
  void want() const { wanted->store(true, std::memory_order_relaxed); }
};

uint8_t pack_flow(const machine::FlowInstruction& flow);

/// nullopt when damaged.
struct PlacePart {
  PlaceHead head;
  Postings steps;
};
std::optional<PlacePart> read_place(const Stream& stream);
struct ThreadPart {
  Postings steps;
  std::optional<ThreadEnds> ends;
};
std::optional<ThreadPart> read_thread(const Stream& stream);

}  // namespace tracewell::timeline
