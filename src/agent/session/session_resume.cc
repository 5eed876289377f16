// Session: what starts threads, and what comes back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/session/session.h"
#include "rsp/signals.h"

namespace tracewell::agent {

using target::StopEvent;

namespace {

bool is_unknown(const StopEvent& event, const ClientFeatures& client) {
  using Kind = StopEvent::Kind;
  return (event.kind == Kind::Fork && !client.fork_events) ||
         (event.kind == Kind::Vfork && !client.vfork_events) ||
         (event.kind == Kind::VforkDone && !client.vfork_events);
}

Error too_many_breakpoints() {
  return {Errc::Limit, fmt::format("there are {} breakpoints already", Session::kBreakpointsMax),
          {}};
}

}  // namespace

Status Session::resume(std::vector<target::ResumeAction> actions) {
  if (selected_frame)
    return Error{Errc::InvalidArgument, "a trace frame is selected; leave it first", {}};
  // Whose process was killed meanwhile is told so by wait().
  if (actions.empty() && !target.end_untold())
    return Error{Errc::NotFound, "no such thread", {}};
  if (non_stop.on && !non_stop.confirmed) TW_RETURN_IF_ERROR(set_non_stop(false));
  for (target::ResumeAction& action : actions) {
    const target::ThreadInfo* const thread = action.signal ? find_thread({0, action.tid}) : nullptr;
    if (thread && !knows_program(thread->pid)) action.signal = 0;  // meant for the old one
  }
  TW_RETURN_IF_ERROR(target.resume(actions));
  non_stop.to_sample.clear();
  non_stop.says_signals = false;
  for (const auto& action : actions) non_stop.stops.erase(action.tid);
  last_actions_ = std::move(actions);
  threads_changed();
  documents.clear();
  running_ = !non_stop.on;
  return {};
}

void Session::resume(std::vector<target::ResumeAction> actions, Reply& reply) {
  const Status status = resume(std::move(actions));
  if (!status) reply.error(status.error());
  else if (non_stop.on) reply.ok();
  else reply.none();
}

void Session::go_back(bool step, Reply& reply) {
  if (selected_frame || non_stop.on) return reply.error(1);
  const target::ThreadInfo* chosen = nullptr;
  const auto current = current_thread();
  if (resume_thread && resume_thread->tid > 0) chosen = find_thread(*resume_thread);
  else if (resume_thread && current) chosen = &*current;
  if (!chosen) return reply.error(1);
  if (auto status = target.time_travel()->back(chosen->tid, step); !status)
    return reply.error(status.error());
  last_actions_.clear();
  threads_changed();
  documents.clear();
  running_ = true;
  reply.none();
}

void Session::run_on(bool with_signal) {
  constexpr int kSigtrap = 5;  // the debugger's own
  const bool pending = with_signal && last_stop && last_stop->kind == StopEvent::Kind::Signal &&
                       last_stop->signal != kSigtrap;
  std::vector<target::ResumeAction> actions;
  for (const auto& thread : target.threads(0)) {
    const bool gets_it = pending && thread.tid == last_stop->tid;
    actions.push_back({.tid = thread.tid, .signal = gets_it ? last_stop->signal : 0});
  }
  if (actions.empty()) return;
  ask_for_nothing();
  selected_frame.reset();
  if (auto status = resume(std::move(actions)); !status) notice(status.error().text());
}

bool Session::commands_alone() const {
  return options.programs && options.programs->any_persists();
}

bool Session::traces_alone() const {
  if (!trace || !trace->control()) return false;
  const RunStatus status = trace->status();
  return status.running && status.disconnected.value_or(false);
}

/// GDB 13 does not get over the end of a recording when it has just stepped off a breakpoint: its
/// next step never begins. So a step that cannot be done ends where it began, and the user is told.
StopEvent Session::without_cut_steps(const StopEvent& event) {
  using Kind = target::ResumeAction::Kind;
  const bool single = std::ranges::any_of(
      last_actions_, [](const target::ResumeAction& one) { return one.kind == Kind::Step; });
  const bool again = std::exchange(told_end_, event.kind == StopEvent::Kind::HistoryEnd && single);
  if (!told_end_) return event;
  if (!again) console("The recording ends here.\n");
  StopEvent out = event;
  out.kind = StopEvent::Kind::Stepped;
  return out;
}

void Session::on_event(const StopEvent& told) {
  const StopEvent event = without_cut_steps(told);
  running_ = false;
  threads_changed();
  if (trace && trace->control()) trace->control()->on_event(event);
  if (event.kind == StopEvent::Kind::Exited)
    notice(fmt::format("\nChild exited with status {}", event.exit_code));
  if (event.kind == StopEvent::Kind::Signalled)
    notice(fmt::format("\nChild terminated with signal = {:#x} ({})", event.signal,
                       rsp::gdb_signal_name(rsp::gdb_signal_from_linux(event.signal))));
  const bool ended =
      event.kind == StopEvent::Kind::Exited || event.kind == StopEvent::Kind::Signalled;
  if (ended) unselect(event.pid);  // another may get its number
  if (ended || event.kind == StopEvent::Kind::Exec) forget_breakpoints(event.pid);
  if (event.child_pid != 0 && !is_unknown(event, client)) inherit_breakpoints(event);
  if (absorb(event)) return;
  if (non_stop.on) return on_event_alone(event);
  last_stop = event;
  // GDB takes the thread that stopped for the selected one, without saying so.
  if (ended) general_thread.reset();
  else if (event.tid > 0) general_thread = {event.pid, event.tid};
  send(stop_reply(event));
  drain_waiting();
}

/// Forks are not told to a client that does not know of them: it sees the parent run on, and the
/// child is let go.
bool Session::absorb(const StopEvent& event) {
  if (!is_unknown(event, client)) return false;
  if (event.child_pid != 0)
    if (auto* processes = target.process_control()) best_effort(processes->detach(event.child_pid));
  if (event.child_pid != 0) forget_breakpoints(event.child_pid);
  threads_changed();
  // A thread that exec() ended must not be named again.
  std::erase_if(last_actions_, [&](const auto& action) {
    return !find_thread({0, action.tid});
  });
  if (non_stop.on) last_actions_.clear();  // only one was stopped
  if (last_actions_.empty()) last_actions_.push_back({.tid = event.tid});
  for (auto& action : last_actions_) action.signal = 0;
  auto status = target.resume(last_actions_);
  threads_changed();
  if (!status) return false;
  running_ = !non_stop.on;
  return true;
}

void Session::on_target_error(const Error& error) {
  running_ = false;
  threads_changed();
  if (non_stop.on) {  // there is no reply to say it in
    notice(error.text());
    return break_off();
  }
  Reply reply;
  reply.error(error);
  send(reply.str());
  drain_waiting();
}

void Session::stopped() {
  running_ = false;
  threads_changed();
}

void Session::on_disconnect(bool run) {
  remove_breakpoints();
  if (options.programs) options.programs->leave();
  if (trace && trace->control()) trace->control()->client_lost();
  if (run || traces_alone() || commands_alone()) run_on(true);
}

target::Breakpoints::Kind breakpoint_kind(rsp::BreakpointRequest::Type type) {
  using Type = rsp::BreakpointRequest::Type;
  using Kind = target::Breakpoints::Kind;
  switch (type) {
    case Type::Software: return Kind::Software;
    case Type::Hardware: return Kind::Hardware;
    case Type::WriteWatch: return Kind::WriteWatch;
    case Type::ReadWatch: return Kind::ReadWatch;
    case Type::AccessWatch: break;
  }
  return Kind::AccessWatch;
}

/// When the debugger learns of a fork it takes for granted that the child has what its parent has.
Status Session::set_breakpoint(target::Pid pid, const rsp::BreakpointRequest& request) {
  TW_RETURN_IF_ERROR(set_one_breakpoint(pid, request));
  using Kind = target::Breakpoints::Kind;
  if (breakpoint_kind(request.type) != Kind::Software) return {};
  for (const target::Pid child : non_stop.queue.forks_of(pid))
    best_effort(set_one_breakpoint(child, request));
  const auto size = static_cast<uint32_t>(request.kind);
  for (const target::UntoldFork& fork : target.untold_forks()) {
    if (fork.creator != pid) continue;
    auto* const all = target.breakpoints();
    if (request.insert) best_effort(all->insert(fork.pid, Kind::Software, request.address, size));
    else best_effort(all->remove(fork.pid, Kind::Software, request.address, size));
  }
  return {};
}

Status Session::set_one_breakpoint(target::Pid pid, const rsp::BreakpointRequest& request) {
  auto* breakpoints = target.breakpoints();
  const Inserted key{pid, breakpoint_kind(request.type), request.address,
                     static_cast<uint32_t>(request.kind)};
  const auto known = inserted_.find(key);
  if (!request.insert) {
    if (known != inserted_.end()) inserted_.erase(known);
    options.programs->remove(key.pid, key.kind, key.address);
    return breakpoints->remove(key.pid, key.kind, key.address, key.size);
  }
  if (known == inserted_.end() && inserted_.size() >= kBreakpointsMax)
    return too_many_breakpoints();
  TW_RETURN_IF_ERROR(
      options.programs->set(key.pid, key.kind, key.address,
                            {request.conditions, request.commands, request.persist}));
  // What is there already was sent again to give it other conditions or commands.
  if (known != inserted_.end()) return {};
  Status status = breakpoints->insert(key.pid, key.kind, key.address, key.size);
  if (status) inserted_.insert(key);
  else options.programs->remove(key.pid, key.kind, key.address);
  return status;
}

/// A fork's copy of the memory has its parent's breakpoints in it. They are taken out of it where
/// they would be too many. After vfork the memory is the parent's, and they stay.
void Session::inherit_breakpoints(const StopEvent& event) {
  if (!options.programs) return;
  std::vector<Inserted> copies;
  for (Inserted copy : inserted_) {
    if (event.kind != StopEvent::Kind::Fork) break;
    if (copy.pid != event.pid || copy.kind != target::Breakpoints::Kind::Software) continue;
    copy.pid = event.child_pid;
    copies.push_back(copy);
  }
  const bool fit = inserted_.size() + copies.size() <= kBreakpointsMax;
  const Status status = fit ? options.programs->copy(event.pid, event.child_pid)
                            : Status(too_many_breakpoints());
  if (status) return inserted_.insert(copies.begin(), copies.end());
  for (const Inserted& copy : copies)
    best_effort(target.breakpoints()->remove(copy.pid, copy.kind, copy.address, copy.size));
  const std::string line = fmt::format(
      "Process {}, a child of {}, has {}: {}", event.child_pid, event.pid,
      event.kind == StopEvent::Kind::Fork ? "none of its breakpoints"
                                          : "its breakpoints without conditions and commands",
      status.error().text());
  notice(line);
  if (!non_stop.on) console(line + "\n");
}

void Session::forget_breakpoints(target::Pid pid) {
  if (options.programs) options.programs->forget(pid);
  std::erase_if(inserted_, [&](const Inserted& entry) { return entry.pid == pid; });
}

void Session::remove_breakpoints() {
  for (const Inserted& entry : inserted_) {
    if (options.programs->persists(entry.pid, entry.kind, entry.address)) continue;
    options.programs->remove(entry.pid, entry.kind, entry.address);
    best_effort(target.breakpoints()->remove(entry.pid, entry.kind, entry.address, entry.size));
  }
  inserted_.clear();
}

}  // namespace tracewell::agent
