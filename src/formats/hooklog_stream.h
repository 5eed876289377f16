// The events of one ring of trace hooks, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/hooklog_packets.h"
#include "model/batch.h"
#include "ring/hook_packet.h"

namespace tracewell::formats {

class HooklogCursor {
 public:
  /// All of them outlive it.
  HooklogCursor(const HooklogPackets& log, const HooklogStream& stream, ProblemLog& problems);

  /// Is there an event? When was it?
  bool at_end() const { return !ready_; }
  uint64_t ticks() const { return ticks_; }
  /// Adds it to `batch`, without a number and a time, and goes on to the next one.
  void take(Batch& batch);

 private:
  void advance();
  bool open_packet();
  void close_packet();
  void lose(uint64_t count, const char* why);
  void damaged();
  void add_hook(Batch& batch, Event& event) const;

  const HooklogPackets& log_;
  const HooklogStream& stream_;
  ProblemLog& problems_;
  size_t next_packet_ = 0;
  const HooklogPacket* packet_ = nullptr;
  std::vector<uint8_t> copy_;  // of one that may change
  std::optional<ring::HookWalk> walk_;
  uint64_t lost_ = 0;          // told so far
  uint64_t seen_records_ = 0;  // of the packet
  // The event that is next: a record, or a loss.
  bool ready_ = false;
  bool is_loss_ = false;
  uint64_t ticks_ = 0;
  ring::HookRecord record_;
  Lost loss_;
};

}  // namespace tracewell::formats
