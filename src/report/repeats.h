// Events that several logs have alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/entry.h"

namespace tracewell::report {

/// Asked of each event of merged logs, by ascending times. As many equal events as one log has are
/// printed, not those that the others have of them too. It remembers the events of one moment.
class Repeats {
 public:
  /// Was this event printed already, as one of another log?
  bool again(size_t log, const Entry& entry);

 private:
  static constexpr size_t kKept = 1024;
  struct Seen {
    size_t log;
    size_t event;  // into events_
    uint64_t count;
  };
  struct Kept {
    std::string bytes;
    uint64_t printed = 0;
  };
  int64_t time_ns_ = 0;
  std::string key_;
  std::vector<Kept> events_;
  std::vector<Seen> seen_;
};

}  // namespace tracewell::report
