// Between two debuggers in non-stop mode: who runs runs on, who stops stays, and the next debugger
// is told of it.
#include <utility>

#include "server/live/loop.h"

namespace tracewell::server {

using target::StopEvent;

namespace {

/// A service stands still for nobody. That includes what a debugger wanted to look at which has
/// left by now.
bool lets_go_on(target::Target& target, const StopEvent& event) {
  const bool has_signal = event.kind == StopEvent::Kind::Signal;
  const target::ResumeAction action{.tid = event.tid, .signal = has_signal ? event.signal : 0};
  return target.resume({&action, 1}).ok();
}

}  // namespace

/// Gone without a word. A trace, or breakpoint commands, that shall do without a debugger have
/// their program run on as a whole.
void ServerLoop::leave_alone(agent::Session& session) {
  if (session.traces_alone() || session.commands_alone()) {
    best_effort(session.set_non_stop(false));
    return session.on_disconnect(true);
  }
  stops_ = session.leave_as_is();
  alone_ = true;
}

void ServerLoop::watch_alone() {
  if (!target_.non_stop()->due()) return link_.wait();
  auto event = wait_watched();
  if (!event) return give_up(event.error());
  if (*event) note_alone(**event);
}

void ServerLoop::note_alone(const StopEvent& event) {
  using Kind = StopEvent::Kind;
  if (event.kind == Kind::NoneLeft || event.kind == Kind::ThreadExited) return;
  if (event.kind != StopEvent::Kind::Exited && event.kind != StopEvent::Kind::Signalled) {
    witness(event);
    if (!options_.session.samples || !lets_go_on(target_, event)) stops_[event.tid] = event;
    return;
  }
  std::erase_if(stops_, [&](const auto& stop) { return stop.second.pid == event.pid; });
  if (!target_.processes().empty()) return witness(event);
  end_alone();
  pass_by(event);
}

/// A program that was found running, and runs, is to be found so by the next debugger, too.
void ServerLoop::run_alone() {
  if (!running_ || !options_.session.samples) return;
  best_effort(target_.non_stop()->set_non_stop(true));
  alone_ = true;
  running_ = false;
}

void ServerLoop::end_alone() {
  if (!std::exchange(alone_, false)) return;
  best_effort(target_.non_stop()->set_non_stop(false));
  stops_.clear();
}

}  // namespace tracewell::server
