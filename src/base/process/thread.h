// Threads that the system may refuse (ulimit -u, -v), and memory that it may refuse to a thread: an
// exception that leaves one ends the program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <future>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace tracewell {

inline Error out_of_memory() { return {Errc::Io, "out of memory", {}}; }

/// Io when there may be no more threads.
template <class Thread = std::thread, class Work>
Result<Thread> start_thread(Work work) {
  try {
    return Thread(std::move(work));
  } catch (const std::system_error& error) {
    return Error{Errc::Io, "cannot start a thread: " + error.code().message(), {}};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// The same, and no signal of the process comes to it: they are for the thread that traces. Io when
/// there may be no more threads.
template <class Work>
Result<std::thread> start_helper_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto thread = start_thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

/// Io when its memory is used up.
template <class Work>
auto with_memory_bounded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// In a thread of its own, or, where there may be no more, when it is asked for.
template <class Work>
auto begin(Work work) -> std::future<decltype(work())> {
  const auto shared = std::make_shared<Work>(std::move(work));  // it is tried more than once
  const auto run = [shared] { return (*shared)(); };
  try {
    return std::async(std::launch::async, run);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, run);
  }
}

}  // namespace tracewell
