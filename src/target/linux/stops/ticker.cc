#include "target/linux/stops/ticker.h"

#include <chrono>
#include <utility>

#include "base/process/thread.h"

namespace tracewell::target::live {
namespace {

constexpr std::chrono::milliseconds kPeriod{10};

}  // namespace

Status Ticker::start() {
  if (thread_.joinable()) return {};
  wanted_ = true;
  auto thread = start_helper_thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kPeriod, [this] { return !wanted_; })) bell_.tick();
  });
  TW_ASSIGN_OR_RETURN(thread_, std::move(thread));
  return {};
}

void Ticker::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = false;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace tracewell::target::live
