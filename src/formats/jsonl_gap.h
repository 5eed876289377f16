// Lines of JSON that could not be read: that they are missing, and what is not known any more.
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
/// unless it tells it again. Where there are too many threads for that, another session begins.
class JsonlGap {
 public:
  /// `catalog` must outlive it.
  explicit JsonlGap(const Catalog& catalog) : catalog_(catalog) {}

  /// A line is left out.
  void add() { ++lines_; }
  /// The last event of `batch` was just read: what is missing in front of it goes there.
  void tell(Batch& batch);
  /// No more lines; the next event would have had the number `seq`.
  void finish(Batch& batch, uint64_t seq);

 private:
  struct Known {
    uint64_t gaps = 0;  // there had been, at the thread's last step
    std::unordered_set<uint32_t> registers;  // that were told since
  };
  void put(Event& event, uint64_t seq);
  void look(Event& event, Step& step, Batch& batch);
  void forget(Known& known, Step& step, Batch& batch);

  const Catalog& catalog_;
  uint64_t lines_ = 0;  // left out since the last event
  uint64_t gaps_ = 0;
  std::unordered_map<uint64_t, Known> threads_;
  size_t told_ = 0;         // registers of all threads
  bool overflown_ = false;  // there are threads that are not among them
};

}  // namespace tracewell::formats
