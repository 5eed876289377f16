// IndexKeeper: an index that is made anew when somebody comes across damage in it, or asks for what
// was left out of it, so that either costs time and no answer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "timeline/index/index_file.h"

namespace tracewell::timeline {

/// Any number of threads may ask.
class IndexKeeper {
 public:
  using Make = std::function<Result<Index>()>;

  /// Without `make` nothing can be done about damage. `make_whole`: one with nothing left out.
  explicit IndexKeeper(Index index, Make make = {}, Make make_whole = {});

  const Index& now() const { return *now_.load(std::memory_order_acquire); }
  /// `ask(const Index&)` of an index in which it came across no damage; or of what is left, when it
  /// cannot be made anew. What it refers to stays.
  template <class Ask>
  auto ask(Ask&& ask) {
    while (true) {
      const Index& index = now();
      auto answer = ask(index);
      const bool good = !index.damaged->load(std::memory_order_relaxed) &&
                        !index.wanted->load(std::memory_order_relaxed);
      if (good || !replace(index)) return answer;
    }
  }
  /// All of it is there and sound, if that can be had; also for `look`, which reads it: what that
  /// found in an index that turned out to be damaged is found anew.
  const Index& whole(const std::function<void(const Index&)>& look = {});

 private:
  /// `index` was now(), and is damaged or not enough. False: it has to do, damaged.
  bool replace(const Index& index);

  std::mutex mutex_;  // of what follows
  Make make_, make_whole_;
  std::vector<std::unique_ptr<const Index>> all_;  // somebody may still look at earlier ones
  std::atomic<const Index*> now_;
};

}  // namespace tracewell::timeline
