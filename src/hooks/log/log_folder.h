// The log of a session: a folder that is a CTF 1.8 trace. docs/formats/hooklog.md
#pragma once

#include <tracewell/hook_layout.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"
#include "hooks/log/log_clock.h"

namespace tracewell::hooks {

constexpr char kRingsName[] = ".rings";  // the folder of rings in a log

using Uuid = std::array<uint8_t, 16>;
/// What a log's metadata says of the whole trace: words, and values.
using LogFact = std::pair<std::string, std::string>;
using LogFacts = std::vector<LogFact>;

std::string uuid_text(const Uuid& uuid);
/// The line that one of them has there.
std::string metadata_fact(const LogFact& fact);
/// `cpus`: its records may say on which processor they were made.
std::string metadata_text(const Uuid& uuid, const LogClock& clock, const LogFacts& facts,
                          bool cpus = false);

/// Of a log, to write to it. InvalidArgument when the folder is not this user's; or, for root, when
/// others may write to it: what has a name there would be theirs to choose.
Result<Folder> open_own_log(const std::string& path);
/// Makes the folder, with one for rings in it. A log of this user's that is there already goes, or
/// is renamed to `old`, a name beside it, in place of a log of that name; one that was not even
/// begun when its maker died goes, too. An error is anything else of that name, a symbolic link
/// too; a log that a session writes to; one with rings that nobody has collected, or with anything
/// else in it, which would go; and, for root, a parent that others write to.
Result<Folder> make_log_folder(const std::string& path, const std::string& old = {});
/// One that make_log_folder() made just now: its files; and it, where its path leads to it still.
Status remove_log_folder(const Folder& log);
/// Is it that of a file of packets: PID-RING-PROCESS.PART, or, by releases before, PID-RING.PART?
bool is_stream_name(std::string_view name);
/// Is it, by its metadata, that of the session with this UUID of 16 bytes?
bool is_log_of(const Folder& log, std::span<const uint8_t> session);
/// Are there rings in it that nobody has collected?
bool has_rings(const Folder& log);
Result<std::string> read_metadata(const Folder& log);
/// Appears whole or not at all.
Status write_metadata(const Folder& log, const std::string& text);
/// The metadata of a release before declares no packets as this one writes them: adds that.
Status declare_packets(const Folder& log);
/// The clock that the text of a log's metadata has; nullopt: none, or not as it is written here.
std::optional<LogClock> clock_in(std::string_view metadata);
/// The same text with another clock.
Status change_clock(const Folder& log, const LogClock& clock);
/// What whoever writes marks again and again knows of those that there are: others are read.
struct MarksSeen {
  uint64_t device = 0, inode = 0;  // of their file
  uint64_t bytes = 0, number = 0, ticks = 0;
  uint32_t stream_id = TRACEWELL_PACKET_STREAM;  // a file has packets of one kind
};
/// Says what an operator did at `ticks`: now, where the log is of this boot. A mark is never ahead
/// of the one before it, since readers of CTF refuse a stream whose times go back. Several may do
/// so at the same time.
Status add_mark(const Folder& log, const Uuid& uuid, std::string_view text,
                uint64_t ticks = now().ticks, MarksSeen* seen = nullptr);

/// Texts of a session's marks, in their order.
void each_mark(const Folder& log, const Uuid& uuid,
               const std::function<void(std::string_view)>& visit);

/// Behind the marks there is room for more of them, so that what ends a trace is told also where
/// the disk has become full. This gives it back.
Status give_back_room(const Folder& log);

/// When tracing began, by the first mark; 0 = that says something else.
uint64_t ticks_of_begin(const Folder& log);

/// Takes packets. One at a time writes to a log.
class LogFolder {
 public:
  struct Limits {
    uint64_t bytes = 0;  // 0 = none
    bool stop_when_full = false;
    bool full = false;  // it was when somebody else wrote to it: nothing later may follow
  };
  /// Goes on with what a collector that was killed has left: half a packet at the end of a file is
  /// cut off. `folder` outlives it.
  static Result<LogFolder> open(const Folder& folder, const Limits& limits);

  /// The stream that packets of a ring which says that it is of `stream` have here, or will have.
  uint64_t stream_of(uint64_t stream, uint32_t pid, uint32_t ring) const;
  /// Behind the last packet of the stream that it has.
  uint64_t next_number(uint64_t stream) const;
  /// Of the last packet of the stream that it has.
  uint64_t ticks_end(uint64_t stream) const;
  /// Is it there already? A later one of the same number is of another process that had the same
  /// id, which only programs of a release before leave open: it is counted as lost.
  bool has(const tracewell_packet& head);
  /// A packet: its head, and what follows that.
  Status append(const tracewell_packet& head, Bytes records);
  /// Its last packet has been here: what its ring says to have lost is counted as dropped, unless a
  /// packet that the log has tells of it.
  void stream_ends(uint64_t stream);
  /// Of so many hooks that a ring lost, those that no packet here tells of.
  uint64_t untold_losses(uint64_t stream, uint64_t lost, uint64_t overwritten) const;
  /// What was appended until now stays when the machine stops now: before its rings go.
  Status sync();
  /// It has reached its limit, and is to stop then.
  bool full() const { return full_; }
  /// Records that were dropped, since this was asked last: the oldest, or, when it is full, those
  /// that came later.
  uint64_t dropped() const { return dropped_; }
  uint64_t take_dropped();
  /// Their number is kept there, too, which outlives it, from what stands there on: whoever goes on
  /// with the log when this collector was killed tells of them.
  void count_dropped_in(uint64_t& word);
  /// Records of packets that were taken for others', since this was asked last.
  uint64_t take_mistaken() { return std::exchange(mistaken_, 0); }

 private:
  /// A file of one stream's packets; a stream has several, so that the oldest can go.
  struct Part {
    std::string name;
    uint64_t stream = 0;
    uint64_t bytes = 0;
    uint64_t records = 0;
  };
  struct Stream {
    uint32_t pid = 0, ring = 0;  // 0, 0: not known yet, or nobody's
    uint64_t next_number = 0;
    uint64_t ticks_end = 0;  // of the last packet
    // What the ring has lost until then: by the last packet that came, and the last that is here.
    // A reader takes all of it from the first packet that there is.
    uint64_t lost = 0, lost_here = 0;
    uint64_t overwritten = 0, overwritten_here = 0;  // in a circular ring, likewise
    uint64_t lost_dropped = 0;  // of these, counted as dropped
    bool has_ended = false;
    uint32_t next_part = 0, parts = 0;  // number of the next, and how many are here
    Part* part = nullptr;  // the one that takes more
    UniqueFd file;         // of that part; closed again when many streams are open
  };
  LogFolder(const Folder& folder, const Limits& limits);
  Status look_at(const std::string& name);
  void begin_part(const tracewell_packet& head, Stream& stream);
  Status open_part(uint64_t id, Stream& stream);
  Status make_room(uint64_t bytes);
  void part_goes(const Part& part, bool takes_more);
  void drop_losses(Stream& stream, uint64_t lost);
  void set_dropped(uint64_t records);

  const Folder* folder_;
  Limits limits_;
  uint64_t part_bytes_;  // a part has no more, unless it is one packet
  std::map<uint64_t, Stream> streams_;
  std::deque<Part> parts_;      // oldest first; they keep their addresses
  std::set<std::string> unsynced_;  // parts that were appended to and closed
  std::deque<uint64_t> opened_;  // streams whose file may be open, longest first
  uint64_t bytes_ = 0;
  uint64_t dropped_ = 0;
  uint64_t* dropped_kept_ = nullptr;
  uint64_t mistaken_ = 0;
  bool full_ = false;
};

}  // namespace tracewell::hooks
