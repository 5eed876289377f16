// Lines of JSON that could not be read, and events that were lost: what is not known any more.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/batch.h"
#include "model/catalog.h"

namespace tracewell::formats {

/// What stood in a line that could not be read may have changed any register. So the first step
/// behind it of each thread says of what the thread's steps told before that nobody knows it,
/// unless it tells it again. The same holds behind a Lost, unless the step has a `before`, which
/// then says all that has changed. Where there are too many threads for that, another session
/// begins.
class JsonlGap {
 public:
  /// `catalog` must outlive it.
  explicit JsonlGap(const Catalog& catalog) : catalog_(catalog) {}

  /// A line is left out.
  void add() { ++lines_; }
  /// The last event of `batch` was just read: what is missing in front of it goes there.
  /// `tells_before`: its line has a `before`.
  void tell(Batch& batch, bool tells_before);
  /// No event was read for long: what is missing so far is told.
  void flush(Batch& batch, uint64_t seq);
  /// No more lines; the next event would have had the number `seq`.
  void finish(Batch& batch, uint64_t seq);

 private:
  struct Known {
    uint64_t gaps = 0, losses = 0;  // there had been, at the thread's last step
    bool lost = false;              // since then, something of this thread
    std::unordered_set<uint32_t> registers;  // that were told since
  };
  void put(Event& event, uint64_t seq);
  void begin_anew(Batch& batch, size_t at, uint64_t seq);
  void lose(uint64_t tid);
  void look(Event& event, Step& step, Batch& batch, bool tells_before);
  void forget(Known& known, Step& step, Batch& batch);

  const Catalog& catalog_;
  uint64_t lines_ = 0;  // left out since the last event
  uint64_t gaps_ = 0;
  uint64_t losses_ = 0;  // of nobody knows which thread
  std::unordered_map<uint64_t, Known> threads_;
  size_t told_ = 0;         // registers of all threads
  bool overflown_ = false;  // there are threads that are not among them
};

}  // namespace tracewell::formats
