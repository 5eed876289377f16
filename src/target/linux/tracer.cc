#include "target/linux/tracer.h"

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
  if (threads_.processes().empty()) interrupt_wanted_ = false;  // it was not about the next one
  unborn_.process_gone();
}

std::vector<Tid> Tracer::others() const { return late_.leaving(); }

void Tracer::on_lingering(Tid tid) { late_.let_go(tid); }

}  // namespace tracewell::target::live
