// A log of trace hooks whose session still runs: what was logged, and then whatever comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files/folder.h"
#include "formats/hooklog/metadata.h"
#include "formats/hooklog/processes.h"
#include "formats/hooklog/programs.h"
#include "formats/hooklog/stream.h"
#include "model/stream.h"

namespace tracewell::formats {

/// Goes by rounds: a round has all that was logged before it began, by time, out of the log's files
/// and out of rings that nobody has collected yet. Only what a thread had begun before a round and
/// finished after it comes later than its time. Files are mapped for the length of a round, and of
/// a ring one packet is copied at a time.
class HooklogFollow final : public Source {
 public:
  struct Session {
    /// Of the log with that UUID, whatever its name is by now; once false, nothing more is written.
    std::function<bool(const std::optional<HooklogUuid>& log)> runs;
    std::function<uint64_t()> ticks;  // now, as hooks see it
    std::function<bool()> stop;       // may be empty; true: nothing more is read
  };
  /// `folder` is the log's. Both outlive the result.
  static Result<std::unique_ptr<HooklogFollow>> open(const std::string& folder, Session session,
                                                     ProblemLog& problems);

  /// Says nothing of threads and processes: each event has its process, and in front of the first
  /// one of each a change says who it is.
  const Catalog& catalog() const override { return catalog_; }
  /// That is read, whatever has its name by now.
  const Folder* folder() const override { return &folder_; }
  /// false: the round is over; the next call begins another one.
  Result<bool> next(Batch& batch) override;
  /// The session has ended, and all was read; or it was stopped.
  bool over() const { return over_; }

 private:
  struct Round {
    HooklogPackets log;
    std::vector<HooklogRing> rings;  // of the cursors
    std::vector<uint32_t> of_rings;  // their processes
    std::vector<HooklogCursor> cursors;
    bool last = false;
    uint64_t until = 0;  // ticks
    using Place = std::pair<uint64_t, size_t>;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> queue;
  };
  HooklogFollow(Folder folder, Session session, ProblemLog& problems)
      : folder_(std::move(folder)),
        session_(std::move(session)),
        problems_(problems),
        programs_(problems) {}
  bool begin_round();  // false: it was stopped
  void end_round();
  void tell_once(const std::string& name, const Error& error);
  std::vector<std::string> files_in(const Folder& folder);
  void move_places();
  void queue(size_t cursor);
  void number_last(Batch& batch, uint64_t ticks, uint32_t process, bool foreign);

  Folder folder_;
  Session session_;
  ProblemLog& problems_;
  std::optional<HooklogClock> clock_;
  std::optional<HooklogUuid> uuid_;
  Catalog catalog_;
  std::map<std::string, uint64_t> read_;       // of each file: bytes
  std::set<std::string> told_;                 // files that cannot be read
  std::map<HooklogRing, HooklogPlace> places_;
  HooklogPrograms programs_;
  HooklogProcesses processes_;
  HooklogStreams in_log_;                      // of all rounds
  std::unique_ptr<Round> round_;
  uint64_t seq_ = 0;
  bool over_ = false;
};

}  // namespace tracewell::formats
