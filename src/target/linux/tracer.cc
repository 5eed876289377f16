#include "target/linux/tracer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <sys/wait.h>

#include "target/linux/stops/starter.h"

namespace tracewell::target::live {

Decision Tracer::decide(Thread& thread, bool parking) { return decider_.decide(thread, parking); }

/// One that was waited for before it was in the table has stopped already.
void Tracer::on_added(Thread& thread) {
  if (const auto status = unborn_.take_status(thread.tid)) core_.stops.note(thread.tid, *status);
}

void Tracer::on_removal(Thread& thread) {
  if (thread.child != 0) unborn_.orphan(unborn_.take_child(thread), thread.process->space);
  if (std::exchange(thread.trace_step, false) && core_.wishes.handler != nullptr)
    core_.wishes.handler->on_end(thread.tid);
}

void Tracer::on_process_removed() {
  // It was not about the next one.
  if (core_.threads.processes().empty()) core_.untold.interrupt_wanted = false;
  unborn_.process_gone();
}

std::vector<Tid> Tracer::others() const { return core_.let_go.all(); }

void Tracer::on_lingering(Tid tid) { core_.let_go.add(tid); }

/// The child that it tells of would stand in its first stop for as long as we live.
void Tracer::on_let_go_status(Tid tid, int status) {
  (void)unborn_.tick();
  const std::shared_ptr<AddressSpace> memory = core_.let_go.memory_of(tid);
  if (tells_of_child(status))
    if (const Tid child = unborn_.told_by(tid, core_.let_go.pid_of(tid), 0); child != 0)
      unborn_.orphan(child, memory);
  if (core_.let_go.on_status(tid, status)) unborn_.memory_gone(memory);
}

bool Tracer::look_at_let_go() {
  core_.let_go.release();
  unborn_.look();
  return !core_.let_go.empty();
}

void Tracer::process_gone(Thread& last, int status) {
  Process& process = *last.process;
  // Without a thread nobody could ask for what comes after the end of one.
  std::erase_if(core_.untold.gone, [&](const StopEvent& event) {
    return event.pid == process.pid && event.kind == StopEvent::Kind::ThreadExited;
  });
  if (seen(process)) {
    StopEvent event = event_of(StopEvent::Kind::Exited, process.pid, process.pid);
    if (WIFSIGNALED(status)) {
      event.kind = StopEvent::Kind::Signalled;
      event.signal = WTERMSIG(status);
    } else {
      event.exit_code = WEXITSTATUS(status);
    }
    core_.untold.gone.push_back(event);
  }
  core_.threads.remove_process(process.pid);
  unborn_.memory_gone(process.space);
  release_orphans();
}

/// Only the thread that called exec is left, under the leader's id, and nothing of the old memory.
void Tracer::exec_happened(Tid leader) {
  Process* process = core_.threads.find_process(leader);
  if (process == nullptr) return;
  const std::vector<Tid> old = process->threads;
  std::optional<StopEvent::Kind> stop_wanted;
  for (const Tid tid : old) {
    const Thread* one = core_.threads.find(tid);
    if (one != nullptr && one->stop_wanted) stop_wanted = one->stop_wanted;
    core_.threads.remove_thread(tid);
  }
  process->hardware = {};
  if (process->hidden) {
    process->hidden = false;
    process->leaving = true;
  }
  if (auto space = AddressSpace::open(leader); space.ok()) {
    const std::shared_ptr<AddressSpace> was = std::exchange(process->space, *std::move(space));
    core_.threads.keep(was);
    unborn_.memory_gone(was);
  }
  Thread& thread = core_.threads.add_thread(*process, leader);
  thread.resumed = true;
  thread.stop_wanted = stop_wanted;
  thread.begun = true;
  thread.call.emplace();
  if (core_.wishes.handler != nullptr) {
    core_.wishes.handler->on_exec(leader);
    core_.stops.bell().tick();
  }
  release_orphans();
}

/// After an exec the process has one thread, in the stop that tells of it. Where threads run, it
/// may be there and nobody has looked: the numbers of the process and of its leader would lead what
/// is meant for the old program to the new one.
bool Tracer::exec_untold(Pid pid) {
  if (one_by_one_.on() && core_.threads.find(pid) != nullptr) (void)core_.stops.take_status(pid);
  const Thread* const thread = core_.threads.find(pid);
  if (thread == nullptr || !core_.wishes.tell_execs || !seen(*thread->process)) return false;
  if (thread->pending) return thread->pending->kind == StopEvent::Kind::Exec;
  return thread->fresh && stop_event(thread->status) == PTRACE_EVENT_EXEC;
}

void Tracer::release_orphans() {
  std::vector<Process*> orphans;
  for (const auto& [pid, process] : core_.threads.processes()) {
    if (!process->hidden || process->leaving) continue;
    const bool kept = std::ranges::any_of(core_.threads.processes(), [&](const auto& other) {
      return seen(*other.second) && other.second->space == process->space;
    });
    if (!kept) orphans.push_back(process.get());
  }
  std::vector<Process*> with_code;
  std::ranges::copy_if(orphans, std::back_inserter(with_code),
                       [](const Process* process) { return process->space->fast != nullptr; });
  fast_.abandon(with_code);
  for (Process* process : orphans) {
    process->space->remove_all();
    process->leaving = true;
    for (Thread* thread : core_.threads.threads_of(*process)) {
      if (thread->run == Run::Running || thread->run == Run::Listening) ask_to_stop(*thread);
      if (thread->run == Run::Stopped && !thread->fresh)
        core_.resumer.go(*thread, std::exchange(thread->deferred_signal, 0));
    }
  }
}

}  // namespace tracewell::target::live
