// Takes packets out of the rings of a session, and puts them into its log.
#pragma once

#include <tracewell/hook_layout.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/share_of_time.h"
#include "hooks/log/log_folder.h"
#include "hooks/programs/process_ends.h"
#include "hooks/rings/ring_file.h"

namespace tracewell::hooks {

class Collector {
 public:
  /// `folder` is the log's; its rings are in `.rings` there. Those of other sessions are left
  /// alone: programs of one whose log was removed do not know that it was made anew by another.
  /// Both outlive the collector. `ticks`: when the session began. `clock` is the log's where it may
  /// be of another boot, whose counter says nothing of it now.
  Collector(const Folder& folder, LogFolder& log, const Uuid& session, uint64_t ticks = 0,
            std::optional<LogClock> clock = std::nullopt);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Takes all packets that are closed and whole; those of rings that are nearly full even if a
  /// record in them is not finished. What dead processes have left goes whole, and their rings with
  /// it. Returns how many packets it took.
  Result<uint64_t> collect();
  /// Takes everything, also packets that are not closed, and removes the rings. No thread begins a
  /// record any more; those under way are waited for, but not long. What cannot be read is told.
  Status finish();
  /// The same with rings that it knows: what stands in them may not be theirs any more, and whoever
  /// finishes the log has not seen what they were. It looks for no others.
  Status leave();
  /// Removes the rings, and what nobody has taken with them. Returns how many hooks that were;
  /// those that had found no room are not among them.
  Result<uint64_t> discard();
  /// Packets that were taken, ever.
  uint64_t taken() const { return taken_; }

 private:
  Status find_rings();
  void settle_rings(bool at_once);
  Result<bool> put(const std::string& ring, const tracewell_packet& head, Bytes records, bool all);
  Result<uint64_t> collect(const std::string& name, RingFile& ring, bool all);
  Status tell(const std::string& text);
  Status tell_mistaken(const std::string& ring, bool now);
  Status tell_bounded(const std::string& ring);
  Status tell_broken();
  Within within(const RingFile& ring, uint64_t packet) const;
  Status tell_lost(uint64_t records, const std::string& why);
  Status tell_others();
  Status tell_unknown(const std::string& name, const Error& error);
  Status give_up_cut();
  Status give_up_unfinished();
  Status give_up_dead();
  bool has_new_ends();
  void wait_for_writers();
  Status remove(const std::string& name);
  Status remove_folder();

  const Folder& folder_;
  LogFolder& log_;
  Uuid session_;
  std::optional<LogClock> clock_;
  Within within_;  // what all of the log may have
  std::map<std::string, std::unique_ptr<RingFile>> rings_;  // by name of the file
  ProcessEnds ends_;
  ShareOfTime settling_{9};
  int64_t folder_changed_ns_ = -1;
  uint64_t rounds_ = 0, taken_ = 0;
  std::vector<uint8_t> packet_;
  std::map<std::string, bool> unfinished_;  // rings whose makers are at it, or died over that;
                                            // nobody has written to them when they were seen first
  std::map<std::string, std::string> broken_;  // what has a ring's name, and cannot be read: why
  std::set<std::string> bounded_;              // rings whose times were told to be wrong
  std::set<std::string> others_;  // rings of other sessions
  /// Records that were taken for an earlier process's. A process may make that without end.
  struct Mistaken {
    uint64_t records = 0;  // not told yet
    std::chrono::steady_clock::time_point told;
  };
  std::map<std::string, Mistaken> mistaken_;  // by ring
  MarksSeen marks_;
  std::set<std::string> unknown_;  // rings of releases that this one does not know
};

}  // namespace tracewell::hooks
