// IndexKeeper: an index that is made anew when somebody comes across damage in it, so that damage
// costs time and no answer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "timeline/index_file.h"

namespace tracewell::timeline {

/// Any number of threads may ask.
class IndexKeeper {
 public:
  using Make = std::function<Result<Index>()>;

  /// Without `make` nothing can be done about damage.
  explicit IndexKeeper(Index index, Make make = {});

  const Index& now() const { return *now_.load(std::memory_order_acquire); }
  /// `ask(const Index&)` of an index in which it came across no damage; or of what is left, when it
  /// cannot be made anew. What it refers to stays.
  template <class Ask>
  auto ask(Ask&& ask) {
    while (true) {
      const Index& index = now();
      auto answer = ask(index);
      if (!index.damaged->load(std::memory_order_relaxed) || !replace(index)) return answer;
    }
  }
  /// All of it is sound, if that can be had.
  const Index& whole();

 private:
  /// `index` was now(), and is damaged. False: it has to do.
  bool replace(const Index& index);

  std::mutex mutex_;  // of what follows
  Make make_;
  std::vector<std::unique_ptr<const Index>> all_;  // somebody may still look at earlier ones
  std::atomic<const Index*> now_;
};

}  // namespace tracewell::timeline
