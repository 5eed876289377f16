// The events of several sources as one row, by time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/batch.h"
#include "model/stream.h"

namespace tracewell::filter {

/// Keeps one batch of each source, however many events they have. Of events at the same time the
/// one of the lower processor comes first, then that of the earlier source; a source's own events
/// keep their order as long as their times do not run backwards. An event without time is as late
/// as the one before it in its source.
class Merge {
 public:
  struct Item {
    size_t source = 0;             // in the order of add()
    const Event* event = nullptr;  // until the next call
  };

  /// Borrows the source.
  void add(Source& source);
  /// Has the next event; false: there are no more. A source that fails ends there, and the others
  /// go on.
  bool next(Item& item);
  /// How a source ended.
  const Status& status(size_t source) const { return inputs_[source].status; }
  /// Asks a source that has ended for more.
  void ask_again(size_t source);

 private:
  struct Input {
    Source* source = nullptr;
    Batch batch;
    size_t at = 0;
    int64_t last_ns = INT64_MIN;
    bool ended = false;
    Status status;
  };
  struct Place {
    int64_t time_ns;
    int32_t cpu;
    size_t source;
    bool operator>(const Place& other) const;
  };
  bool fill(Input& input);
  void queue(size_t source);

  std::vector<Input> inputs_;
  std::vector<Place> heap_;  // of those that have an event, the first one on top
  size_t taken_ = SIZE_MAX;  // the source whose event the caller has
};

}  // namespace tracewell::filter
