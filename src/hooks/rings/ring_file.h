// A ring of trace hooks, mapped beside the thread that writes to it.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/folder.h"
#include "base/files/mapping.h"
#include "base/result.h"
#include "hooks/programs/nested_processes.h"
#include "hooks/rings/record_check.h"

namespace tracewell::hooks {

class LogFolder;

/// No ring's file has more.
constexpr uint64_t kRingBytesMax =
    TRACEWELL_HOOK_PAGE + uint64_t{TRACEWELL_RING_SLOTS_MAX} * TRACEWELL_PACKET_BYTES_MAX;

/// Does the process live? `start` says which one it was, where it is not 0: ids are used again.
bool process_lives(uint32_t pid, uint64_t start);

class RingFile {
 public:
  /// Corrupt when it is no ring; Truncated when its maker has not got so far yet; Unsupported, with
  /// its version, when it is of a program of a release that this one knows nothing of.
  /// `untouched`: it is as room for it was made, and nobody has written to it. Told at the first
  /// look only: a look at a hole makes it memory.
  static Result<std::unique_ptr<RingFile>> open(const Folder& folder, const std::string& name,
                                                bool* untouched = nullptr);

  /// Its program has cut the file: what was in the part that is missing is lost.
  bool is_cut() const { return map_.lost().has_value(); }
  uint32_t pid() const { return head_.pid; }
  uint32_t number() const { return head_.number; }
  /// tracewell_packet::stream of the packets that it gives.
  uint64_t stream() const { return identity_ + head_.number; }
  /// From now on its packets are of that one.
  void set_stream(uint64_t stream);
  uint32_t slots() const { return slots_; }
  bool circular() const { return head_.mode == TRACEWELL_RING_CIRCULAR; }
  /// Does the process of its name live, and is it the one that made it, as far as the kernel tells?
  /// Where it does not, it lives: only a ring that nobody writes to may go.
  bool process_lives() const;
  /// Nobody here was its process when it was opened. That may be in a PID namespace below, and
  /// counts as alive until settle() has looked among those that were there after that.
  bool is_unsettled() const { return unsettled_; }
  void settle(const NestedProcesses& nested);
  /// The number that its process has here.
  uint32_t pid_here() const { return here_; }
  /// It has ended.
  void call_dead() { orphaned_ = true; }
  std::span<const uint8_t> session() const { return head_.uuid; }
  /// Is it a ring of this session's?
  bool is_of(std::span<const uint8_t> session) const;

  struct Waiting {
    uint64_t number = 0;
    uint32_t slot = 0;
    uint32_t state = 0;  // TRACEWELL_PACKET_*
  };
  /// Packets that were not taken, by number.
  std::vector<Waiting> waiting() const;

  struct Taken {
    uint64_t unfinished = 0;  // records left out
    bool changed = false;     // it was written over meanwhile; there is nothing to keep
    bool bounded = false;     // it had times that its log cannot have; they are the nearest now
  };
  /// Copies the packet as a log has it: closed, cut to its content, without what is not finished.
  /// What is no record that a program writes is not finished, either: readers of CTF refuse it.
  /// `keep_unfinished`: such records are a reason to say how many there are, and to do nothing.
  Taken copy(const Waiting& packet, bool keep_unfinished, std::vector<uint8_t>& out,
             const Within& within = {}) const;
  /// Its slot may be used again.
  void release(const Waiting& packet, const Taken& taken);

 private:
  RingFile() = default;
  void look_at_process();
  tracewell_ring& ring() const { return *reinterpret_cast<tracewell_ring*>(map_.data()); }
  uint32_t head_bytes() const;
  tracewell_packet read_head(const uint8_t* from) const;
  void finish(tracewell_packet& head, uint64_t record_bytes) const;
  Taken lose(tracewell_packet head, const Within& within, std::vector<uint8_t>& out) const;
  const uint8_t* packet_at(uint32_t slot) const;
  /// Records that found no room, up to the packet's end; of the last one, up to now: threads that
  /// took over a full ring have no packet in which it would be told.
  uint64_t lost_by(const tracewell_packet& head) const;
  /// Records of a packet that its thread was just dropping, or died over that.
  uint64_t being_dropped() const;

  Mapping map_;
  tracewell_ring head_ = {};   // as it was when it was mapped: its program may write to it
  uint64_t identity_ = 0;      // its stream's, without its number
  std::string name_;           // of the file
  uint32_t here_ = 0;          // its process's number
  uint64_t seen_start_ = 0;    // of the process that had that number when it was mapped
  bool orphaned_ = false;      // its own process had ended by then
  bool unsettled_ = false;     // unless it is in a PID namespace below
  uint32_t slots_ = 0;         // fit the mapping's size
  uint32_t packet_bytes_ = 0;
};

/// Before its packets are put into the log. A process that gave up its rights may have written to
/// its ring that it is of the stream of another: who comes second gets one of its own, so that
/// nothing of either is taken for what the log has already.
void keep_apart(RingFile& ring, const LogFolder& log);

}  // namespace tracewell::hooks
