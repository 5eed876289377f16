// The events of one ring of trace hooks, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/zeroed.h"
#include "formats/hooklog/packets.h"
#include "model/batch.h"
#include "ring/hook_packet.h"

namespace tracewell::formats {

/// How far a ring was read whose thread goes on writing.
struct HooklogPlace {
  uint64_t number = 0;                 // of the packet
  uint32_t at = 0;                     // of the record in it; 0 = of the first
  uint64_t lost = 0;                   // records of which it was told that they are lost
  bool begun = false;
  uint32_t tid = 0;                    // of the records from there on; 0 = the packet's
};

class HooklogCursor {
 public:
  /// All of them outlive it. With `from` it begins there, and goes only as far as its thread was
  /// when it was looked at: a record that is not finished, and the end of an open packet, are its
  /// end, too.
  HooklogCursor(const HooklogPackets& log, const HooklogStream& stream, ProblemLog& problems,
                const HooklogPlace* from = nullptr);

  /// Is there an event? When was it?
  bool at_end() const { return !ready_; }
  uint64_t ticks() const { return ticks_; }
  bool is_loss() const { return is_loss_; }
  /// By which clock?
  bool is_foreign() const { return packet_ != nullptr && packet_->foreign; }
  /// Where to go on from: the event that is next, which is no loss, was not taken.
  const HooklogPlace& place() const { return place_; }
  /// Adds it to `batch`, without a number, a time and a process, and goes on to the next one.
  void take(Batch& batch);
  /// Of the event that is next.
  uint32_t pid() const { return packet_->head.pid; }
  /// Of its packet.
  const tracewell_packet& head() const { return packet_->head; }
  /// What it says that the ring's program is; nullopt: it is another event.
  std::optional<std::string_view> program() const;
  /// Adds such an event, of the same thread.
  void tell_program(std::string_view program, Batch& batch) const;

 private:
  void advance();
  bool open_packet();
  ZeroedBytes copied() const;
  bool next_record();
  void close_packet();
  void lose(uint64_t count, const char* why);
  void damaged();
  void forged_mark();
  uint64_t ticks_of_record();
  void add_hook(Batch& batch, Event& event) const;

  const HooklogPackets& log_;
  const HooklogStream& stream_;
  ProblemLog& problems_;
  const bool growing_;
  HooklogPlace place_;
  size_t next_packet_ = 0;
  const HooklogPacket* packet_ = nullptr;
  ZeroedBytes copy_;  // of one that may change
  std::optional<ring::HookWalk> walk_;
  uint64_t lost_ = 0;          // told so far
  uint64_t seen_records_ = 0;  // of the packet
  uint64_t passed_ = 0;        // records that give no event
  // The event that is next: a record, or a loss.
  bool ready_ = false;
  bool is_loss_ = false;
  uint64_t ticks_ = 0;
  ring::HookRecord record_;
  Lost loss_;
};

}  // namespace tracewell::formats
