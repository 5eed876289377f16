#include "target/linux/fast/filling.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <utility>

#include "base/process/thread.h"

namespace tracewell::target::live {
namespace {

/// A mapping answers to it, and a helper thread has all signals blocked.
void let_bus_errors_come() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

struct Filling::Shared {
  Shared(tracewell::Mapping of, Fill how) : memory(std::move(of)), fill(std::move(how)) {}

  /// false: none is left.
  bool fill_piece(std::unique_lock<std::mutex>& lock) {
    if (wanted.empty() || is_unwanted) return false;
    Range& first = wanted.front();
    const Range piece{first.offset, std::min(first.bytes, kPieceBytes)};
    first.offset += piece.bytes;
    first.bytes -= piece.bytes;
    if (first.bytes == 0) wanted.pop_front();
    ++busy;
    lock.unlock();
    fill(memory, piece.offset, piece.bytes);
    lock.lock();
    if (--busy == 0) is_idle.notify_all();
    return true;
  }
  void run() {
    let_bus_errors_come();
    std::unique_lock lock(mutex);
    while (fill_piece(lock)) {
    }
    has_thread = false;
  }

  const tracewell::Mapping memory;
  const Fill fill;
  std::mutex mutex;
  std::condition_variable is_idle;
  std::deque<Range> wanted;
  int busy = 0;  // pieces that are being filled
  bool has_thread = false;
  bool is_unwanted = false;
};

Filling::Filling(tracewell::Mapping memory, Fill fill)
    : shared_(std::make_shared<Shared>(std::move(memory), std::move(fill))) {}

Filling::~Filling() {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->is_unwanted = true;
}

const tracewell::Mapping& Filling::memory() const { return shared_->memory; }

void Filling::want(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::offset);
  {
    const std::lock_guard lock(shared_->mutex);
    auto& wanted = shared_->wanted;
    for (const Range& one : ranges) {
      if (one.bytes == 0) continue;
      if (!wanted.empty() && wanted.back().offset + wanted.back().bytes == one.offset)
        wanted.back().bytes += one.bytes;
      else
        wanted.push_back(one);
    }
    if (wanted.empty() || std::exchange(shared_->has_thread, true)) return;
  }
  if (auto thread = start_helper_thread([shared = shared_] { shared->run(); }); thread.ok()) {
    thread->detach();
    return;
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->has_thread = false;
  }
  finish();
}

void Filling::finish() {
  std::unique_lock lock(shared_->mutex);
  while (shared_->fill_piece(lock)) {
  }
  shared_->is_idle.wait(lock, [this] { return shared_->busy == 0; });
}

}  // namespace tracewell::target::live
