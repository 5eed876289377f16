// Takes packets out of the rings of a session, and puts them into its log.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hooks/log_folder.h"

namespace tracewell::hooks {

/// A mapped ring. Its thread goes on writing to it.
class RingFile;

class Collector {
 public:
  /// `folder` is the log's; its rings are in `.rings` there. Those of other sessions are left
  /// alone: programs of one whose log was removed do not know that it was made anew by another.
  /// Both outlive the collector. `clock` is the log's where it may be of another boot, whose
  /// counter says nothing of it now.
  Collector(const Folder& folder, LogFolder& log, const Uuid& session,
            std::optional<LogClock> clock = std::nullopt);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Takes all packets that are closed and whole; those of rings that are nearly full even if a
  /// record in them is not finished. What dead processes have left goes whole, and their rings with
  /// it. Returns how many packets it took.
  Result<uint64_t> collect();
  /// Takes everything, also packets that are not closed, and removes the rings. No thread begins a
  /// record any more; those under way are waited for, but not long.
  Status finish();
  /// Removes the rings, and what nobody has taken with them. Returns how many hooks that were;
  /// those that had found no room are not among them.
  Result<uint64_t> discard();
  /// Packets that were taken, ever.
  uint64_t taken() const { return taken_; }

 private:
  Status find_rings();
  Result<bool> put(const tracewell_packet& head, Bytes records, bool all);
  Result<uint64_t> collect(RingFile& ring, bool all);
  Status tell_lost(uint64_t records, const std::string& why);
  Status tell_others();
  Status tell_unknown(const std::string& name, const Error& error);
  Status give_up_cut();
  Status give_up_unfinished();
  Status give_up_dead();
  void wait_for_writers();
  Status remove(const std::string& name);
  Status remove_folder();

  const Folder& folder_;
  LogFolder& log_;
  Uuid session_;
  std::optional<LogClock> clock_;
  std::map<std::string, std::unique_ptr<RingFile>> rings_;  // by name of the file
  int64_t folder_changed_ns_ = -1;
  uint64_t rounds_ = 0, taken_ = 0;
  std::vector<uint8_t> packet_;
  std::set<std::string> unfinished_;  // rings whose makers are at it, or died over that
  std::set<std::string> others_;  // rings of other sessions
  std::set<std::string> unknown_;  // rings of releases that this one does not know
};

}  // namespace tracewell::hooks
