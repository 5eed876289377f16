// Collector: makes one trace frame out of a hit. The memory that actions ask for is only noted
// while they run and read at the end, all of it in one call, into its place in the frame.
//
// Decisions, where the manual leaves room:
// - Any R action records the whole register block: an R block in a trace file has no room for a
//   mask, and the kernel hands out the block as a whole anyway. Which registers were asked for is
//   kept beside the frame, and no other is shown (gdbserver shows them all).
// - Memory that cannot be read: the readable prefix is recorded, never anything else, and the fault
//   is reported. (The manual promises an error; gdbserver records whatever was in its buffer.)
// - After a fault the other actions of the same hit are still done.
// - Data of a static marker (L): its arguments as a text, which a NUL ends. What cannot be computed
//   is a `?` there, and no fault.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/buffer/trace_buffer.h"
#include "agent/engine/markers.h"
#include "agent/engine/variables.h"
#include "ax/fault.h"
#include "base/bytes.h"
#include "rsp/actions.h"
#include "target/target.h"

namespace tracewell::agent {

/// The first thing that went wrong at a hit, if anything.
struct CollectFault {
  ax::Fault fault = ax::Fault::None;
  uint64_t address = 0;  // of MemoryAccess

  bool ok() const { return fault == ax::Fault::None; }
  /// gdbserver's words for what it knows; the address behind ours.
  std::string text() const;
};

/// Keeps its memory from hit to hit, so that a hit allocates nothing once it is warm.
class Collector {
 public:
  struct Condition {
    CollectFault fault;
    bool holds = false;
  };
  struct Collected {
    CollectFault fault;
    bool fits = true;    // false: the frame was dropped, the buffer is as it was
    uint64_t bytes = 0;  // data of the frame
  };

  Collector(Variables& variables, TraceBuffer& buffer) : variables_(variables), buffer_(buffer) {}

  /// Of the program's addresses. What goes beyond is cut: 32-bit programs leave out the carry.
  void set_address_bytes(uint32_t bytes) { last_address_ = bytes < 8 ? UINT32_MAX : UINT64_MAX; }

  Condition evaluate(target::HitContext& hit, Bytes condition, int64_t time_ns);
  /// Runs the actions and appends the frame. `record` has tracepoint, pc, tid and time.
  /// `marker`: what the data of a static marker are; nullptr = there are none.
  Collected collect(target::HitContext& hit, std::span<const rsp::Action> actions,
                    const FrameRecord& record, const MarkerData* marker = nullptr);

 private:
  class Host;
  friend class Host;
  /// A block of the frame to be.
  struct Item {
    FrameBlock::Kind kind = FrameBlock::Kind::Memory;
    bool text = false;       // Memory, Static: its bytes are at `value` in texts_
    bool continues = false;  // Memory: the same range as the item before
    uint32_t size = 0;       // Memory, Static: bytes; at most 65535
    uint64_t address = 0;    // Memory; number of a Variable
    int64_t value = 0;
    size_t encoded_bytes(size_t register_bytes) const;
  };

  void run(target::HitContext& hit, const rsp::Action& action, int64_t time_ns);
  /// `zeros` of the bytes may be zeros that take no room in the buffer.
  bool reserve(uint64_t bytes, uint64_t zeros = 0);
  uint64_t up_to_the_end(uint64_t address, uint64_t size) const;
  bool add_memory(uint64_t address, uint64_t size);
  bool add_text(target::HitContext& hit, uint64_t address, uint64_t max);
  void add_variable(uint32_t number, int64_t value);
  void add_registers(target::HitContext& hit);
  void add_marker(target::HitContext& hit, int64_t time_ns);
  void note(ax::Fault fault, uint64_t address = 0);
  void lay_out();
  void fill(target::HitContext& hit);
  void close_gaps();

  Variables& variables_;
  TraceBuffer& buffer_;
  uint64_t last_address_ = UINT64_MAX;
  const MarkerData* marker_ = nullptr;
  std::vector<Item> items_;
  std::vector<uint8_t> texts_;  // strings, made or read while the actions ran
  std::vector<uint8_t> frame_;  // grows only; bytes_ of it are used
  std::vector<target::HitContext::Range> ranges_;
  Bytes registers_;
  uint64_t reserved_ = 0, zeros_ = 0;  // bytes of the blocks asked for so far
  size_t bytes_ = 0;
  bool overflow_ = false;  // more was asked for than the whole buffer holds
  CollectFault fault_;
};

}  // namespace tracewell::agent
