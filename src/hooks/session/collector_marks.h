// Marks of a collector's own: that its log was moved, and that what was oldest in it went. Both may
// happen without end, also as others like it, and the limit of a log's size knows nothing of marks.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "hooks/log/log_folder.h"

namespace tracewell::hooks {

/// The first times are told one by one; those that come later together, each time that there were
/// twice as many, and at the end: most of them are told also where the end is a sudden one.
class SeldomTold {
 public:
  explicit SeldomTold(uint64_t one_by_one) : one_by_one_(one_by_one) {}
  /// It happened once more. Is it to be told now?
  bool once_more() {
    if (++times_ > one_by_one_ && times_ < next_) return false;
    next_ = times_ * 2;
    return true;
  }

 private:
  uint64_t one_by_one_, times_ = 0, next_ = 0;
};

class CollectorMarks {
 public:
  /// `folder` is the log's, and outlives it.
  CollectorMarks(const tracewell_channel& channel, const Folder& folder)
      : channel_(channel), folder_(folder) {}

  Status moved(const std::string& from, const std::string& to);
  /// Of records that the log has dropped and not told of.
  Status dropped(LogFolder& log);
  /// Hooks in no ring, `records` in all; seldom, and some seconds late. A session's end may be a
  /// sudden one, behind which nobody can tell of them. What cannot be told now, is told later.
  void without_ring(uint64_t records, int64_t now_ns);
  /// What was not told until now.
  Status tell_rest(LogFolder& log);

 private:
  static constexpr int64_t kFirstNs = 5'000'000'000, kMostNs = 60'000'000'000;
  Status tell_moves();

  const tracewell_channel& channel_;
  const Folder& folder_;
  SeldomTold moves_{16}, drops_{64};
  std::string from_, to_;     // of moves that were not told, the first and the last
  uint64_t untold_moves_ = 0;
  uint64_t untold_records_ = 0;
  std::optional<uint64_t> told_without_ring_;  // nothing: nobody has looked
  std::optional<int64_t> untold_since_ns_;
  int64_t telling_ns_ = kFirstNs;
};

}  // namespace tracewell::hooks
