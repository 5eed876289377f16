#include "target/linux/stops/stopper.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/process/urgency.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/starter.h"

namespace tracewell::target::live {
namespace {

// Until a thread is given up that neither stops nor waits in the kernel for something (Late has
// how long for those). One that is about to run on a busy machine stops at once, then.
constexpr int64_t kStopNs = 10 * kSecond, kStopAtEndNs = 5 * kSecond;

// Of so few threads that are to stop, a wait ends with the first.
constexpr size_t kFewThreads = 16;

/// For more, it takes as long as it took to look at them all, more or less.
int64_t pause_ns(size_t threads) {
  constexpr int64_t kEachNs = 1000;
  return std::min(static_cast<int64_t>(threads) * kEachNs, kPauseMaxNs);
}

}  // namespace

void Stopper::stop_all(const std::function<void()>& look_at_ready) {
  const auto moving = [](const Thread& thread) {
    return thread.run == Run::Starting || thread.run == Run::Running ||
           thread.run == Run::Listening;
  };
  const auto waited_for = [&](const Thread& thread) {
    return moving(thread) && !thread.process->leaving;
  };
  const auto is_waited_for = [&](Tid tid) {
    const Thread* const thread = threads_.find(tid);
    return thread != nullptr && waited_for(*thread);
  };
  const Urgent urgent;
  const Nudger::Wait nudged(stops_.nudger());
  Patience patience(kStopNs, gives_up_, kStopAtEndNs);
  std::vector<Tid> moving_now;  // those that have been asked
  for (;;) {
    look_at_ready();
    std::erase_if(moving_now, [&](Tid tid) { return !is_waited_for(tid); });
    // Again only when all of these stand still: others may have come since.
    if (moving_now.empty())
      for (Thread* thread : threads_.all()) {
        if (!waited_for(*thread)) continue;
        if (thread->run != Run::Starting) ask_to_stop(*thread);
        moving_now.push_back(thread->tid);
      }
    if (moving_now.empty()) return;
    const size_t came = stops_.take_each(moving_now);
    if (late_.look(patience, waited_for) || 2 * came >= moving_now.size()) continue;
    // Who looks at all of them for each that stops looks as often as there are threads, squared.
    const bool many = moving_now.size() > kFewThreads;
    if (came == 0 && !stops_.wait_once(!many) && !many) return;
    if (many) pause_for(pause_ns(moving_now.size()));
  }
}

void Stopper::quiesce(Thread& but) {
  const auto in_the_way = [&](const Thread& thread) {
    return &thread != &but && thread.run == Run::Running &&
           thread.process->space == but.process->space;
  };
  const Nudger::Wait nudged(stops_.nudger());
  Patience patience(kStopNs, gives_up_, kStopAtEndNs);
  for (;;) {
    bool waits = false;
    for (Thread* thread : threads_.all()) {
      if (!in_the_way(*thread)) continue;
      waits = true;
      ask_to_stop(*thread);
    }
    if (!waits || but.run == Run::Exiting) return;
    if (late_.look(patience, in_the_way)) continue;
    if (!stops_.wait_once(true)) return;
  }
}

}  // namespace tracewell::target::live
