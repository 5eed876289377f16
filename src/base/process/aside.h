// Questions about another process that may never be answered. The kernel answers some of them, such
// as kcmp(2) and /proc/PID/stat, exe and maps, when that process is not in the middle of exec; and
// there it stays as long as it likes, by a file that is closed on exec and lies in a file system of
// its own user's (FUSE). No signal but SIGKILL ends the wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/process/thread.h"

namespace tracewell {

/// Many times as long as an answer takes on a machine that is busy.
constexpr std::chrono::milliseconds kAsideMost{500};

/// Asks in a thread of its own. nullopt: there is no answer yet, and the thread is left to wait for
/// it, until the process asked about gets on, or this one ends: what `ask` uses is its own. Where
/// there may be no more threads, it is asked here.
template <class Answer>
std::optional<Answer> asked_aside(std::function<Answer()> ask,
                                  std::chrono::milliseconds most = kAsideMost) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Answer> answer;
  };
  const auto shared = std::make_shared<Shared>();
  auto thread = start_thread([shared, ask] {
    Answer answer = ask();
    const std::lock_guard lock(shared->mutex);
    shared->answer = std::move(answer);
    shared->came.notify_one();
  });
  if (!thread.ok()) return ask();
  thread->detach();
  std::unique_lock lock(shared->mutex);
  shared->came.wait_for(lock, most, [&] { return shared->answer.has_value(); });
  return shared->answer;
}

}  // namespace tracewell
