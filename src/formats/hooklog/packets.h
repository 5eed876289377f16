// The packets of a log of trace hooks, wherever they are: in its stream files, and in rings that
// nobody has collected.
#pragma once

#include <tracewell/hook_layout.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "formats/hooklog/metadata.h"
#include "model/problem.h"

namespace tracewell::formats {

/// How many events a reader gives at a time.
inline constexpr size_t kHooklogBatchEvents = 1024;

struct HooklogPacket {
  tracewell_packet head = {};
  uint32_t file = 0;    // into HooklogPackets::files
  uint64_t offset = 0;  // in that file
  uint32_t bytes = 0;   // that are there of its content, with the head; all when it is open
  bool open = false;
  bool in_ring = false;  // and may change while it is looked at
  uint32_t missing = 0;  // bytes of its content that are not there
  bool foreign = false;  // of another session than the log: when its clock ticked is not known
};

/// Whose packets they are. Process and number are those in the name of a ring's file, which a
/// collector puts into packets. The stream tells rings of processes that had the same id apart; in
/// a ring's memory a process that gave up its rights may have written any.
struct HooklogRing {
  uint32_t pid = 0, number = 0;
  uint64_t stream = 0;
  auto operator<=>(const HooklogRing&) const = default;
  /// All rings of a program that runs have the same one.
  uint64_t run() const { return stream - number; }
};

/// Which ring has which stream in a log.
class HooklogStreams {
 public:
  void add(const HooklogRing& ring) { rings_.try_emplace(ring.stream, ring.pid, ring.number); }
  bool has(const HooklogRing& ring) const;
  /// As the log has its packets, or will have them: never in a stream that another ring has, nor in
  /// that of marks.
  HooklogRing in_log(HooklogRing ring) const;

 private:
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> rings_;
};

/// The packets of one ring, by their numbers, each once.
struct HooklogStream {
  std::vector<HooklogPacket> packets;
  uint64_t lost = 0;  // by what the ring itself says; 0 = there is no ring any more
  bool of_marks = false;  // commands write it, and no program
};

/// Names of files in a folder that consist of digits, dashes and dots only, in order.
Result<std::vector<std::string>> hooklog_files(const Folder& folder);
inline constexpr const char* kHooklogRings = ".rings";
/// The log's folder of rings; nullopt when it has none. An error: one that cannot be opened, or is
/// somebody else's link.
Result<std::optional<Folder>> hooklog_rings(const Folder& log);

struct HooklogPackets {
  std::vector<std::shared_ptr<InputFile>> files;
  std::map<HooklogRing, HooklogStream> streams;
  HooklogStreams in_log;  // of the stream files
  std::function<bool()> stop;  // may be empty; true: what was found until then is all
  /// Rings of other sessions are left out: of one whose log was removed, and made anew by another.
  /// Packets of others are told. nullopt = all are taken.
  std::optional<HooklogUuid> session;

  /// Looks for packets from the file's start to its end. Bytes that are none are a problem, and
  /// skipped up to the next packet.
  void add_stream_file(std::shared_ptr<InputFile> file, ProblemLog& problems);
  /// The same of a file that grows, from byte `from` on: what is not all there is left for later.
  /// Returns where to go on then.
  uint64_t add_whole_packets(std::shared_ptr<InputFile> file, uint64_t from);
  /// A ring, with packets that may be in use. A packet moves from its ring to the log: whoever
  /// looks in that order, too, does not miss it. `name` is that of its file in the folder of rings.
  void add_ring_file(std::shared_ptr<InputFile> file, const std::string& name,
                     ProblemLog& problems);
  /// A file that is there by another name already is an error: its packets would be looked at as
  /// often as it has names. For those of a folder, before they are added. Of the names of a ring,
  /// it is the one that the ring itself says.
  Status check_new(const InputFile& file, std::string_view name_of_ring = "");
  /// All of the log in `folder`, if it is one.
  void add_folder(const Folder& folder, ProblemLog& problems);
  /// Sorts the packets of each stream, and drops what is there twice. Last.
  void settle(ProblemLog& problems);
  /// Ticks of the first mark, where marks tell that tracing went on. Behind settle().
  std::optional<uint64_t> begun() const;
  /// Are there packets, and none is of the session? Before settle(), which tells of them otherwise.
  bool all_foreign() const { return foreign_ != 0 && foreign_ == logged_; }
  /// Asks `stop` once in a while, as `done` grows.
  bool stopped(uint64_t done) const;
  /// "1234-0.0: ", for what is wrong with one of a folder's files; "" for one that was named.
  std::string where(uint32_t file) const;

 private:
  /// A file that ends within a packet's head: a collector was killed over it.
  struct CutHead {
    uint32_t file = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  std::vector<CutHead> cut_heads_;
  std::vector<HooklogRing> rings_;  // of files, with the streams that stand in them
  bool of_folder_ = false;
  uint64_t others_ = 0;  // rings of other sessions
  uint64_t logged_ = 0, foreign_ = 0;  // packets of stream files, and those of other sessions
  uint64_t searched_ = 0;  // bytes that were no packets
  std::set<std::pair<uint64_t, uint64_t>> known_;  // device and inode of each file

  /// `head` as it was read there and looked at: it may be another one by now. The result lasts
  /// until the next one is added.
  HooklogPacket& add(const HooklogRing& ring, const tracewell_packet& head, uint32_t file,
                     uint64_t offset, uint64_t room);
  void add_logged(const tracewell_packet& head, uint32_t file, uint64_t offset);
  void place_rings();
};

}  // namespace tracewell::formats
