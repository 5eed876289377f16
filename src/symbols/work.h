// Work: how much is done for one file, whose author may have wanted it to be without end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tracewell::symbols {

/// Is asked now and then, by the thread that reads: true = nobody waits for the answer any more.
/// May be empty.
using Stop = std::function<bool()>;

/// Counts what is done, in small things such as an entry or an attribute. Each thing that the file
/// decides the number of has to be taken. For one thread.
class Work {
 public:
  static constexpr uint64_t kAskedEach = 1 << 14;  // things between two questions to `stop`

  /// `most`: there is no more behind so many.
  explicit Work(uint64_t most, Stop stop = {})
      : most_(most), stop_(std::move(stop)), next_(std::min(most, kAskedEach)) {}

  /// Takes `count` of it. False: there is no more, or nobody waits; it stays so.
  bool take(uint64_t count = 1) {
    if (over_) return false;
    done_ += std::min(count, UINT64_MAX - done_);
    if (done_ >= next_) look();
    return !over_;
  }
  bool over() const { return over_; }
  const Stop& stop() const { return stop_; }
  /// All that was taken, with what it ended in.
  uint64_t done() const { return done_; }

 private:
  void look() {
    over_ = done_ >= most_ || (stop_ && stop_());
    next_ = std::min(most_, done_ + std::min(kAskedEach, UINT64_MAX - done_));
  }

  uint64_t most_;
  Stop stop_;
  uint64_t next_;
  uint64_t done_ = 0;
  bool over_ = false;
};

/// As std::sort(), of what a file decides the number of: `stop` is asked now and then. False:
/// nobody waits, and it is in no order.
template <class T, class Less>
bool sort_unless(const Stop& stop, std::vector<T>& all, const Less& less) {
  constexpr size_t kPiece = size_t{1} << 18;
  const auto at = [&](size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
  };
  for (size_t i = 0; i < all.size(); i += kPiece) {
    if (i != 0 && stop && stop()) return false;
    std::sort(at(i), at(i + kPiece), less);
  }
  for (size_t size = kPiece; size < all.size(); size *= 2)
    for (size_t i = 0; i < all.size(); i += 2 * size) {
      if (stop && stop()) return false;
      std::inplace_merge(at(i), at(i + size), at(i + 2 * size), less);
    }
  return true;
}

}  // namespace tracewell::symbols
