#include "hooks/session/collector_sleep.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <ctime>

namespace tracewell::hooks {
namespace {

constexpr uint64_t kTurnNs = 100'000;  // the shortest that Linux gives

}  // namespace

CollectorSleep::~CollectorSleep() { std::atomic_ref(word_).store(0); }

void CollectorSleep::found_something() {
  std::atomic_ref(word_).store(0);
  ns_ = kNsMin;
}

void CollectorSleep::found_nothing() {
  if (std::atomic_ref(word_).exchange(1) == 0) return;
  const timespec time{0, ns_};
  ::syscall(SYS_futex, &word_, FUTEX_WAIT, 1, &time, nullptr, 0);
  std::atomic_ref(word_).store(0);
  ns_ = std::min(ns_ * 2, kNsMax);
}

void wake_collector(tracewell_channel& channel) {
  std::atomic_ref(channel.collector).store(0);
  ::syscall(SYS_futex, &channel.collector, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ask_for_short_turns() {
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  struct {
    uint32_t size = 48, policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = kTurnNs, deadline = 0, period = 0;
  } wanted;  // the kernel's sched_attr, which glibc 2.36 does not have
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &wanted, 0));
}

}  // namespace tracewell::hooks
