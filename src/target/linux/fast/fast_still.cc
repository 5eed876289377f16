// When threads stand still for fast sites: all of them where code may be changed that they are in,
// one where calls are to be made in the program.
#include <algorithm>
#include <utility>

#include "target/linux/fast/fast_code.h"
#include "target/linux/fast/fast_sites.h"
#include "target/linux/stops/patience.h"

namespace tracewell::target::live {

LiveFastSites::Still::Still(LiveFastSites& all) : sites(all) {
  if (sites.held_++ == 0) sites.one_by_one_.hold_all();
  sites.note_those_inside();
}
LiveFastSites::Still::~Still() {
  if (--sites.held_ == 0) sites.one_by_one_.let_on();
}

LiveFastSites::One::One(LiveFastSites& all, Pid pid) : sites(all) {
  const Process* const process = sites.threads_.find_process(pid);
  if (process == nullptr) return;
  space = process->space;
  const bool others_run = sites.one_by_one_.on() && sites.held_ == 0;
  if (others_run) sites.one_by_one_.hold_one(*space);
  thread = sites.injector_.injectable(*space);
  if (thread != nullptr || !others_run) return;
  all_still.emplace(sites);
  thread = sites.injector_.injectable(*space);
}
LiveFastSites::One::~One() {
  if (sites.held_ == 0) sites.one_by_one_.let_on();
}

/// Threads that have stopped by themselves while others make a run ready: they get their turn.
void LiveFastSites::let_others_on() {
  if (held_ != 0 || !one_by_one_.on()) return;
  stops_.collect_ready();
  owner_.park_ready();
  one_by_one_.let_on();
}

/// What one program wants of it is paid for by all: so they run nine times as long as they stood.
bool LiveFastSites::may_stand_still() const {
  return threads_.processes().size() < 2 || stands_still_.is_due(monotonic_ns());
}

void LiveFastSites::stand_still(const std::function<void()>& what) {
  const int64_t begin = monotonic_ns();
  ++held_;
  owner_.await_all_stopped();
  for (Thread* thread : threads_.all())
    if (thread->run == Run::Stopped) core_.leading_out.settle(*thread);
  note_those_inside();
  what();
  --held_;
  owner_.start_resumed();
  stands_still_.took(begin, monotonic_ns());
}

void LiveFastSites::await_half_way(const AddressSpace& space) {
  std::vector<Tid> waiting;
  for (const Thread* thread : threads_.all())
    if (thread->process->space.get() == &space && thread->doing.leaving_code() != nullptr)
      waiting.push_back(thread->tid);
  const int64_t end = monotonic_ns() + LeadingOut::kAllAtEndNs;
  for (const Tid tid : waiting) {
    const int64_t left = std::min(end - monotonic_ns(), LeadingOut::kAtEndNs);
    if (left <= 0) return;
    if (stops_.await_within(tid, left) != Waited::Stopped) continue;
    Thread& thread = *threads_.find(tid);
    thread.fresh = false;
    core_.resumer.go(thread, owner_.decide(thread, true).signal);
  }
}

bool is_in_or_beside(const ThreadTable& threads, const Process& one, Pid pid) {
  const Process* const process = threads.find_process(pid);
  return one.pid == pid || (process != nullptr && one.beside && one.space == process->space);
}

size_t LiveFastSites::thread_count(Pid pid) {
  return static_cast<size_t>(std::ranges::count_if(
      threads_.all(), [&](const Thread* thread) {
        return thread->run != Run::Exiting && is_in_or_beside(threads_, *thread->process, pid);
      }));
}

bool LiveFastSites::has_others(Pid pid) const {
  const Process* const process = threads_.find_process(pid);
  return process != nullptr && process->space->fast &&
         (process->space->fast->had_others ||
          std::ranges::any_of(threads_.processes(), [&](const auto& one) {
            return one.first != pid && one.second->space == process->space;
          }));
}

void LiveFastSites::while_still(const std::function<void()>& what) {
  {
    const Still still(*this);
    what();
  }
  for (Here& here : here_)
    if (here.hits) here.filling.want(std::exchange(here.later, {}));
}

void LiveFastSites::make_ready(Pid pid) {
  const Process* const process = threads_.find_process(pid);
  if (process != nullptr && process->space->fast) process->space->fast->make_ready();
}

/// Pages that it makes there count in its own group: it makes none where that has a limit, and
/// elsewhere a few, before the thread that fills it gets there.
void LiveFastSites::expect_hits(Pid pid) {
  const auto here = std::ranges::find(here_, pid, &Here::pid);
  if (here == here_.end()) return;
  here->hits = true;
  if (here->is_limited) here->filling.finish();
}

std::vector<uint64_t> LiveFastSites::commit(Pid pid) {
  const Still still(*this);
  const Process* const process = threads_.find_process(pid);
  if (process == nullptr || !process->space->fast) return {};
  return process->space->fast->commit();
}

}  // namespace tracewell::target::live
