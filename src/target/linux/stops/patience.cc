#include "target/linux/stops/patience.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <unistd.h>

#include "base/process/thread.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

constexpr std::chrono::milliseconds kNudgePeriod{20};
constexpr int kIdleRounds = 50;  // without a wait, until the thread sleeps

}  // namespace

int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

void pause_for(int64_t ns) {
  const timespec time{0, ns};
  nanosleep(&time, nullptr);
}

Nudger::~Nudger() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Status Nudger::start() {
  if (thread_.joinable()) return {};
  TW_ASSIGN_OR_RETURN(thread_, start_helper_thread([this] { run(); }));
  return {};
}

void Nudger::begin(bool knocked) {
  if (knocked) knocked_ = gettid();
  if (waits_++ > 0) return;
  waiting_ = true;
  best_effort(start());  // if need be
  if (!asleep_) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
}

void Nudger::end(bool knocked) {
  if (knocked) knocked_ = 0;
  if (--waits_ == 0) waiting_ = false;
}

void Nudger::run() {
  std::unique_lock lock(mutex_);
  for (int idle = kIdleRounds; !ended_;) {
    if (idle == kIdleRounds) {
      asleep_ = true;
      changed_.wait(lock, [this] { return ended_ || waiting_; });
      asleep_ = false;
      idle = 0;
    }
    if (changed_.wait_for(lock, kNudgePeriod, [this] { return ended_; })) return;
    if (const Tid tid = knocked_; tid != 0) tgkill(getpid(), tid, kKnock);
    else if (waiting_) bell_.nudge();
    idle = waiting_ ? 0 : idle + 1;
  }
}

bool Patience::over() {
  now_ = monotonic_ns();
  if (start_ == 0) start_ = now_;
  if (!quitting_ && quits_ && quits_()) {
    quitting_ = true;
    ns_ = std::min(ns_, now_ - start_ + quit_ns_);
  }
  return now_ - start_ >= ns_;
}

}  // namespace tracewell::target::live
