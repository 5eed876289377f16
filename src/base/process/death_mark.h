// A word by which others see whether a thread lives. When the thread dies, however that happens,
// the kernel changes the word: it takes it for a robust futex (get_robust_list(2)).
#pragma once

#include <cstddef>
#include <cstdint>

#include <linux/futex.h>

namespace tracewell {

/// Sets the word to the number of this thread (gettid(2), in its own PID namespace). At the
/// thread's death FUTEX_OWNER_DIED is what is left, if nobody has changed the word. One in each
/// thread at a time: the C library's robust mutexes do not work in it meanwhile.
class DeathMark {
 public:
  /// The word is at a multiple of 4, and outlives this.
  explicit DeathMark(uint32_t& word);
  ~DeathMark();
  DeathMark(const DeathMark&) = delete;
  DeathMark& operator=(const DeathMark&) = delete;

 private:
  robust_list_head list_{};
  robust_list entry_{};
  robust_list_head* before_ = nullptr;
  size_t before_bytes_ = 0;
};

}  // namespace tracewell
