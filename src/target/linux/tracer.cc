#include "target/linux/tracer.h"

#include <ctime>
#include <utility>

namespace tracewell::target::live {

/// One that was waited for before it was in the table has stopped already.
void Tracer::on_added(Thread& thread) {
  if (const auto status = unborn_.take_status(thread.tid)) stops_.note(thread.tid, *status);
}

void Tracer::on_removal(Thread& thread) {
  if (thread.child != 0) unborn_.orphan(unborn_.take_child(thread), thread.process->space);
  if (std::exchange(thread.trace_step, false) && wishes_.handler != nullptr)
    wishes_.handler->on_end(thread.tid);
}

void Tracer::on_process_removed() {
  // It was not about the next one.
  if (threads_.processes().empty()) untold_.interrupt_wanted = false;
  unborn_.process_gone();
}

std::vector<Tid> Tracer::others() const { return let_go_.all(); }

void Tracer::on_lingering(Tid tid) { let_go_.add(tid); }

/// The child that it tells of would stand in its first stop for as long as we live.
void Tracer::on_let_go_status(Tid tid, int status) {
  (void)unborn_.tick();
  const std::shared_ptr<AddressSpace> memory = let_go_.memory_of(tid);
  if (tells_of_child(status))
    if (const Tid child = unborn_.told_by(tid, let_go_.pid_of(tid), 0); child != 0)
      unborn_.orphan(child, memory);
  if (let_go_.on_status(tid, status)) unborn_.memory_gone(memory);
}

bool Tracer::look_at_let_go() {
  let_go_.release();
  unborn_.look();
  return !let_go_.empty();
}

/// Before we end: waits for those that have something of ours in place of what is theirs. Ending
/// would leave them with that, and mostly kill the program.
void Tracer::stay_for_lent() {
  constexpr timespec kPause{0, 20 * kMilli};
  constexpr int64_t kUnguardedNs = 2 * kSecond;
  const int64_t begin = monotonic_ns();
  for (bool stays = false; const auto why = let_go_.reason_to_stay();) {
    if (!stays && monotonic_ns() - begin > kUnguardedNs) {
      stays = options_.stay && options_.stay(*why);
      if (!stays) return;
    }
    (void)look_at_let_go();
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace tracewell::target::live
