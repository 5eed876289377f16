#include "agent/buffer/pages_ahead.h"

#include <algorithm>
#include <utility>

#include "base/process/thread.h"

namespace tracewell::agent {

void PagesAhead::start(Make make, uint64_t begin, uint64_t end) {
  stop();
  make_ = std::move(make);
  made_ = needed_ = begin;
  end_ = end;
  ended_ = false;
  auto thread = start_helper_thread([this] { run(); });
  if (thread.ok()) thread_ = *std::move(thread);
}

void PagesAhead::advance(uint64_t to) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    if (to <= needed_) return;
    needed_ = to;
  }
  changed_.notify_one();
}

void PagesAhead::stop() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  made_ = 0;
}

void PagesAhead::run() {
  for (std::unique_lock lock(mutex_);;) {
    const uint64_t begin = made_.load(std::memory_order_relaxed);
    changed_.wait(lock, [&] {
      return ended_ || (begin < end_ && begin < needed_ + kAheadBytes);
    });
    if (ended_) return;
    const uint64_t end = std::min(begin + kStepBytes, end_);
    lock.unlock();
    const bool done = make_(begin, end);
    lock.lock();
    if (!done) return;
    made_.store(end, std::memory_order_release);
  }
}

}  // namespace tracewell::agent
