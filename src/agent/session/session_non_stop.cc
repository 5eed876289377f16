// Session: what is different where threads stop one by one.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agent/session/non_stop.h"
#include "agent/session/session.h"

namespace tracewell::agent {

using target::StopEvent;

void StopQueue::count(const Told& told, int by) {
  if ((of_thread_[told.tid] += by) == 0) of_thread_.erase(told.tid);
  if ((of_child_[told.child] += by) == 0) of_child_.erase(told.child);
}

void StopQueue::clear() {
  replies_.clear();
  of_thread_.clear();
  of_child_.clear();
}

bool StopQueue::push(const StopEvent& event, std::string reply) {
  replies_.push_back({event.kind, event.pid, event.tid, event.child_pid, std::move(reply)});
  count(replies_.back(), 1);
  return replies_.size() == 1;
}

bool StopQueue::holds(const target::ThreadInfo& thread) const {
  return of_thread_.contains(thread.tid) || of_child_.contains(thread.pid);
}

bool StopQueue::holds_exec(target::Pid pid) const {
  return std::any_of(replies_.begin(), replies_.end(), [&](const Told& told) {
    return told.kind == StopEvent::Kind::Exec && (pid == 0 || told.pid == pid);
  });
}

bool StopQueue::holds_fork(target::Pid pid) const {
  return of_child_.contains(pid);
}

std::vector<target::Pid> StopQueue::forks_of(target::Pid pid) const {
  std::vector<target::Pid> out;
  for (const Told& told : replies_)
    if (told.kind == StopEvent::Kind::Fork && told.pid == pid) out.push_back(told.child);
  return out;
}

std::string StopQueue::acknowledge() {
  if (replies_.empty()) return first();
  count(replies_.front(), -1);
  replies_.pop_front();
  return first();
}

void StopQueue::forget(target::Pid pid) {
  if (replies_.size() < 2) return;
  const auto gone = [&](const Told& told) {
    if (told.pid != pid) return false;
    count(told, -1);
    return true;
  };
  replies_.erase(std::remove_if(replies_.begin() + 1, replies_.end(), gone), replies_.end());
}

void stop_if_sampled(Session& session, const target::ThreadInfo& thread) {
  if (!thread.sampled || !session.non_stop.says_signals) return;
  session.target.non_stop()->stop_sampled(thread.tid);
  session.threads_changed();
}

// GDB writes the pc of a thread that it lets go on from a breakpoint: it has the instruction there
// run elsewhere. The sample may be of a thread that was just there, and GDB does not interrupt what
// it believes to stand still. To stop the thread instead is no help: until the debugger has taken
// that in, what it writes is for the place of the sample.
Status write_registers(Session& session, const target::ThreadInfo& thread, Bytes block) {
  const Status written = session.target.write_registers(thread.tid, block);
  const Register* const pc = session.target.layout(thread.pid).pc();
  if (written || !thread.sampled || pc == nullptr) return written;
  std::vector<uint8_t> known(block.size());
  const auto pc_of = [&](Bytes of) { return of.subspan(pc->offset, pc->size_bytes); };
  if (!session.target.read_registers(thread.tid, known) ||
      std::ranges::equal(pc_of(known), pc_of(block)))
    return written;
  return {Errc::Unsupported,
          fmt::format("thread {} runs on, and what is shown of it is a sample: to go on from a "
                      "breakpoint there, delete it, continue, and set it again",
                      thread.tid)};
}

Status Session::knows_program(target::Pid pid) const {
  if (!non_stop.queue.holds_exec(pid) && !target.exec_untold(pid)) return {};
  return Error{Errc::Target,
               fmt::format("process {} runs another program by now, and you have yet to be told",
                           pid),
               {}};
}

bool Session::running() const { return non_stop.on ? target.non_stop()->due() : running_; }

Status Session::set_non_stop(bool on) {
  target::NonStop* control = target.non_stop();
  non_stop.confirmed = on;
  if (on == non_stop.on) return {};
  if (!control) return Error{Errc::Unsupported, "threads cannot stop one by one here", {}};
  TW_RETURN_IF_ERROR(control->set_non_stop(on));
  non_stop.on = on;
  threads_changed();
  non_stop.queue.clear();
  non_stop.to_sample.clear();
  non_stop.says_signals = false;
  if (on) {
    best_effort(let_others_run());
    if (last_stop && last_stop->kind != StopEvent::Kind::Exited &&
        last_stop->kind != StopEvent::Kind::Signalled)
      non_stop.stops[last_stop->tid] = *last_stop;
    return {};
  }
  // Whoever was stopped by this was stopped for no reason of its own.
  last_stop.reset();
  if (const auto thread = current_thread()) last_stop = stop_of(*thread);
  non_stop.stops.clear();
  return {};
}

/// One thread's stop was told, and that is all that a debugger expects to be told of first: stock
/// GDB, when it stops all threads itself, gives up where several stand still as it comes.
Status Session::let_others_run() {
  const target::ThreadInfo* told = nullptr;
  if (last_stop) told = find_thread({last_stop->pid, last_stop->tid});
  if (!told) told = find_thread(rsp::kAnyThread);
  std::vector<target::ResumeAction> actions;
  for (const target::ThreadInfo& thread : threads())
    if (thread.tid != told->tid) actions.push_back({.tid = thread.tid});
  if (actions.empty()) return {};
  threads_changed();
  return target.resume(actions);
}

StopEvent Session::stop_of(const target::ThreadInfo& thread) const {
  const auto known = non_stop.stops.find(thread.tid);
  if (known != non_stop.stops.end()) return known->second;
  return {.kind = StopEvent::Kind::Signal, .pid = thread.pid, .tid = thread.tid, .path = {}};
}

std::string Session::report_anew() {
  non_stop.queue.clear();
  non_stop.says_signals = false;
  bool any_stands = false;
  for (const target::ThreadInfo& thread : threads())
    if (!thread.running) {
      const StopEvent event = stop_of(thread);
      (void)non_stop.queue.push(event, stop_reply(event));
      any_stands = true;
    }
  non_stop.to_sample.clear();
  if (options.samples && !any_stands)
    for (const target::ProcessInfo& process : target.processes())
      non_stop.to_sample.insert(process.pid);
  return non_stop.queue.first();
}

void Session::inherit(std::map<target::Tid, StopEvent> stops) {
  non_stop.on = true;
  non_stop.confirmed = false;
  non_stop.stops = std::move(stops);
}

std::map<target::Tid, StopEvent> Session::leave_as_is() {
  remove_breakpoints();
  if (options.programs) options.programs->leave();
  if (trace && trace->control()) trace->control()->client_lost();
  ask_for_nothing();
  // Those that only seemed to stand still do so for nobody now. Nor do others for a debugger that
  // has left before they did, where programs are to be found running.
  if (options.samples) target.non_stop()->want_no_stops();
  std::vector<target::ResumeAction> actions;
  for (const target::ThreadInfo& thread : target.threads(0))
    if (thread.sampled) actions.push_back({.tid = thread.tid});
  for (const target::ResumeAction& action : actions) non_stop.stops.erase(action.tid);
  if (!actions.empty()) best_effort(target.resume(actions));
  return std::move(non_stop.stops);
}

void Session::note_stop(const StopEvent& event) {
  last_stop = event;
  if (non_stop.on) non_stop.stops[event.tid] = event;
}

void Session::on_event_alone(const StopEvent& event) {
  using Kind = StopEvent::Kind;
  const bool ended = event.kind == Kind::Exited || event.kind == Kind::Signalled;
  // What the debugger remembers of one that it has taken to stand still (NonStop::sample()) is old.
  const bool again = options.samples && event.kind != Kind::Exec &&
                     non_stop.stops.contains(event.tid);
  if (ended) {
    std::erase_if(non_stop.stops, [&](const auto& stop) { return stop.second.pid == event.pid; });
    last_stop = event;
  } else if (event.kind == Kind::ThreadExited) {
    non_stop.stops.erase(event.tid);
  } else if (event.kind == Kind::NoneLeft) {
    if (!client.no_resumed || target.processes().empty()) return;
  } else {
    note_stop(event);
  }
  if (non_stop.confirmed && non_stop.queue.push(event, stop_reply(event, again)))
    notify("Stop:" + non_stop.queue.first());
}

}  // namespace tracewell::agent
