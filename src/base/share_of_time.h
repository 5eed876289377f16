// Work that may only take a share of the time, however long a turn of it takes: after each turn it
// rests for so many times as long. Times are of any one clock that does not go back.
#pragma once

#include <cstdint>

namespace tracewell {

/// Not thread-safe.
class ShareOfTime {
 public:
  /// `rest`: 9 for a tenth of the time, 99 for a hundredth.
  explicit ShareOfTime(int64_t rest) : rest_(rest) {}

  bool is_due(int64_t now_ns) const { return now_ns >= due_ns_; }
  void took(int64_t begin_ns, int64_t end_ns) { due_ns_ = end_ns + rest_ * (end_ns - begin_ns); }

 private:
  int64_t rest_, due_ns_ = 0;
};

}  // namespace tracewell
