#include "server/live/loop.h"

#include <algorithm>

#include <fmt/format.h>

#include "rsp/signals.h"

namespace tracewell::server {

using target::StopEvent;

namespace {

// So long a debugger that said goodbye may take nothing of what it has yet to be told.
/// For a debugger that takes none of the last words, and for one that takes some now and then.
/// Nobody looks after programs meanwhile: where there are any, the first is for both.
constexpr int kLastWordMs = 2000, kLastWordsMs = 10'000;
constexpr std::chrono::milliseconds kLooksAfterEach(20);
/// Of a trace that is not settled.
constexpr int kAsksAgainMs = 10;

bool is_end(const StopEvent& event) {
  return event.kind == StopEvent::Kind::Exited || event.kind == StopEvent::Kind::Signalled;
}

}  // namespace

ServerLoop::ServerLoop(target::Target& target, agent::Trace* trace, Link& link,
                       ServerOptions options)
    : target_(target), trace_(trace), link_(link), options_(std::move(options)) {
  options_.session.look_up = [this](bool more) { return look_up(more); };
}

void ServerLoop::notice(std::string_view line) const {
  if (options_.session.notice) options_.session.notice(line);
}

ServerEnd ServerLoop::run() {
  while (!done_ && !failed_ && !link_.quitting()) {
    if (!await_debugger()) break;
    serve_debugger();
  }
  const ServerEnd end = link_.quitting() ? ServerEnd::Interrupted : ServerEnd::Done;
  if (!failed_ && options_.ending) options_.ending(end);
  link_.close();
  let_all_go();
  if (!failed_ && options_.ended) options_.ended();
  return failed_ ? ServerEnd::Failed : end;
}

/// False: none will come.
bool ServerLoop::await_debugger() {
  link_.open();
  while (!link_.connected()) {
    if (link_.quitting() || link_.exhausted() || done_ || failed_) return false;
    wait_without_debugger();
  }
  notice(link_.peer());
  return true;
}

void ServerLoop::wait_without_debugger() {
  if (alone_) watch_alone();
  else if (running_) run_unattended();
  else wait_for_link();
}

/// While no program runs, nobody waits for the target. -1: as long as it takes.
void ServerLoop::wait_for_link(int most_ms) {
  target::Processes* const processes = target_.process_control();
  const int again_ms = processes != nullptr ? processes->look_after() : -1;
  // As numbers without a sign, -1 is the largest.
  link_.wait(static_cast<int>(
      std::min(static_cast<unsigned>(again_ms), static_cast<unsigned>(most_ms))));
}

/// Ends early when the link has something new.
Result<std::optional<StopEvent>> ServerLoop::wait_watched() {
  const Link::Watch watch(link_);
  return target_.wait();
}

void ServerLoop::give_up(const Error& error) {
  notice(error.text());
  running_ = false;
  failed_ = true;
  if (options_.ending) options_.ending(ServerEnd::Failed);
}

/// Until a debugger comes, or everything has ended.
void ServerLoop::run_unattended() {
  auto event = wait_watched();
  if (!event) return give_up(event.error());
  if (*event) pass_by(**event);
}

/// What has to be known without a debugger, too.
void ServerLoop::witness(const StopEvent& event) const {
  if (trace_ && trace_->control()) trace_->control()->on_event(event);
  if (event.kind == StopEvent::Kind::Exited)
    notice(fmt::format("\nChild exited with status {}", event.exit_code));
  if (event.kind == StopEvent::Kind::Signalled)
    notice(fmt::format("\nChild terminated with signal = {:#x} ({})", event.signal,
                       rsp::gdb_signal_name(rsp::gdb_signal_from_linux(event.signal))));
}

/// What a debugger would have been told: everything goes on as if there were none.
void ServerLoop::pass_by(const StopEvent& event) {
  running_ = false;
  witness(event);
  if (event.child_pid != 0 && target_.process_control())
    best_effort(target_.process_control()->detach(event.child_pid));
  std::vector<target::ResumeAction> actions;
  for (const target::ThreadInfo& thread : target_.threads(0)) {
    const bool gets_signal = event.kind == StopEvent::Kind::Signal && thread.tid == event.tid;
    actions.push_back({.tid = thread.tid, .signal = gets_signal ? event.signal : 0});
  }
  if (actions.empty()) {
    // Without a program there is nothing to wait for, unless somebody may want its trace.
    const bool wanted = trace_ && (trace_->frames().count() > 0 || traced_alone());
    if (!wanted && !options_.multi) done_ = true;
    if (is_end(event)) last_stop_ = event;
    return;
  }
  if (auto status = target_.resume(actions); !status) notice(status.error().text());
  else running_ = true;
}

/// For a debugger that comes, or for the end. What stopped the target instead is kept.
void ServerLoop::stop_target() {
  end_alone();
  if (!running_) return;
  best_effort(target_.interrupt());
  while (running_) {
    auto event = target_.wait();
    if (!event) return give_up(event.error());
    if (!*event) continue;
    running_ = false;
    if (trace_ && trace_->control()) trace_->control()->on_event(**event);
    last_stop_ = **event;
    // Nothing happened to the program itself: signal 0.
    if (last_stop_->kind == StopEvent::Kind::Interrupted) {
      last_stop_->kind = StopEvent::Kind::Signal;
      last_stop_->signal = 0;
    }
  }
}

/// Who connects may be none. Until that is known, the program does what it does without one.
void ServerLoop::serve_debugger() {
  if (!options_.session.refuse_junk && !alone_) stop_target();
  if (failed_) return;
  agent::Session session(target_, trace_, options_.session);
  if (session.in_doubt()) {
    if (!running_) session.last_stop = last_stop_;
    session.on_debugger = [&] { meet(session); };
  } else {
    meet(session);
  }
  converse(session);
  if (failed_) return;
  if (session.in_doubt()) turn_away();
  else part(session);
}

void ServerLoop::meet(agent::Session& session) {
  if (!alone_) stop_target();
  if (failed_) return session.finish();
  had_process_ = !target_.processes().empty();
  session.last_stop = std::exchange(last_stop_, {});
  if (std::exchange(alone_, false)) session.inherit(std::exchange(stops_, {}));
}

/// What has come, and the answers. Who does not take them is not asked what else there is; whatever
/// the program does goes on. False: that was the last of it.
bool ServerLoop::talk(agent::Session& session) {
  // Once it is answered, what has come meanwhile is taken: nothing tells of that again.
  if (session.postponed) session.feed({});
  if (session.postponed) {
    if (keep_waiting_.is_time() && link_.is_sent() && !link_.send("+")) return false;
  } else if (link_.has_room()) {
    if (const std::string input = link_.take_input(); !input.empty()) {
      keep_waiting_.begin_anew();
      feed(session, input);
    }
  }
  do {
    if (!link_.send(session.take_output())) return false;
  } while (link_.has_room() && !session.postponed && session.proceed());
  if (session.running() || target_.processes().empty()) runs_on();
  if (session.finished()) {
    const int all_ms = target_.processes().empty() ? kLastWordsMs : kLastWordMs;
    if (!session.broken()) link_.finish_sending(kLastWordMs, all_ms);
    return false;
  }
  return session.postponed || !link_.lost() || !link_.is_sent();
}

void ServerLoop::converse(agent::Session& session) {
  while (!link_.quitting() && !done_ && !failed_) {
    if (!talk(session)) return;
    if (session.non_stop.parts) return take_leave(session);
    if (session.in_doubt()) {
      wait_without_debugger();
      continue;
    }
    if (!session.running()) {
      wait_for_link(session.postponed ? kAsksAgainMs : -1);
      continue;
    }
    auto event = wait_watched();
    if (!event) session.on_target_error(event.error());
    else if (*event) session.on_event(**event);
  }
}

/// It has let go of everything, and has a moment to acknowledge what it was told before.
void ServerLoop::take_leave(agent::Session& session) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLastWordMs);
  while (!session.finished() && !link_.quitting()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    link_.wait(static_cast<int>(left.count()));
    if (!talk(session)) break;
  }
  if (!session.finished()) session.finish();
}

/// A debugger that comes to threads that run, and does not ask for that, stops all of them.
void ServerLoop::feed(agent::Session& session, const std::string& input) {
  const bool ran = alone_ || session.non_stop.on;
  const auto now = StandingTime::Clock::now();
  session.feed(as_bytes(input));
  if (ran && !alone_ && !session.non_stop.on && !session.running()) stood_.begin(now);
}

void ServerLoop::runs_on() {
  stood_.end([this](std::string_view text) { notice(text); });
}

/// While a session takes long to answer. Who has sent everything may wait for the answers, and who
/// has started the program, for its end. (While a trace runs, ends of threads add frames, which the
/// session may be looking at.)
std::optional<std::string> ServerLoop::look_up(bool more) {
  link_.wait(0);
  auto* const processes = target_.process_control();
  const agent::TraceControl* const control = trace_ != nullptr ? trace_->control() : nullptr;
  const auto now = std::chrono::steady_clock::now();
  if (processes != nullptr && (control == nullptr || control->traced() == 0) &&
      now - looked_after_ > kLooksAfterEach) {
    processes->look_after();
    looked_after_ = now;
  }
  if (link_.quitting() || link_.unheard()) return std::nullopt;
  if (keep_waiting_.is_time() && link_.is_sent() && !link_.send("+")) return std::nullopt;
  return more ? link_.take_input() : std::string();
}

/// It was no debugger, or did not get so far: all is as if it had never come.
void ServerLoop::turn_away() {
  if (link_.quitting() || done_) return;
  link_.close();
  if (const std::string again = link_.announcement(); !again.empty()) notice(again);
}

/// After the last word: what becomes of the program, and whether there is a next debugger.
void ServerLoop::part(agent::Session& session) {
  const bool done = session.server_exit() || options_.once;
  const bool said_goodbye = session.finished() && !session.broken();
  const bool vanished = !said_goodbye && !done && !link_.quitting();
  const bool non_stop = session.non_stop.on;
  if (non_stop && vanished) leave_alone(session);
  else if (non_stop) best_effort(session.set_non_stop(false));
  running_ = !alone_ && session.running();
  if (link_.quitting()) return;
  if (vanished && !non_stop) {
    // Gone without a word, or with nonsense. A program that ran goes on; one that stood waits for
    // the next debugger.
    const bool ran = running_;
    stop_target();
    session.stopped();
    if (ran) session.last_stop = last_stop_;
    session.on_disconnect(ran);
    running_ = session.running();
  }
  if (running_) runs_on();
  if (!done) run_alone();
  last_stop_.reset();
  if (!running_ && !alone_) last_stop_ = session.last_stop;
  options_.session.launch = session.options.launch;
  options_.session.programs = session.options.programs;
  link_.close();
  if (done || !stays(session)) done_ = true;
  else if (!session.finished())
    notice("Remote side has terminated connection.  GDBserver will reopen the connection.");
  if (done_) return;
  if (const std::string again = link_.announcement(); !again.empty()) notice(again);
}

/// Without a process there is nothing to come back for; except, once, for the frames and the status
/// of a trace that was told to do without a debugger, and whose program ended by itself.
bool ServerLoop::stays(const agent::Session& session) const {
  if (options_.multi || session.extended || !target_.processes().empty()) return true;
  const bool ended_alone = had_process_ && session.last_stop && is_end(*session.last_stop);
  return ended_alone && traced_alone();
}

bool ServerLoop::traced_alone() const {
  if (!trace_ || !trace_->control()) return false;
  const RunStatus status = trace_->status();
  return status.stop != RunStatus::Stop::NotRun && status.disconnected.value_or(false);
}

void ServerLoop::let_all_go() {
  const bool alone = trace_ && trace_->control() && trace_->status().running &&
                     trace_->status().disconnected.value_or(false);
  const bool spare = alone && options_.killed && options_.killed();
  stop_target();
  auto* control = target_.process_control();
  if (!control) return;
  for (const target::ProcessInfo& process : target_.processes()) {
    if (trace_ && trace_->control()) trace_->control()->let_go(process.pid);
    if (process.attached || spare) {
      notice(fmt::format("Detaching process(es): {}", process.pid));
      best_effort(control->detach(process.pid));
      runs_on();
    } else {
      notice(fmt::format("Killing process(es): {}", process.pid));
      best_effort(control->kill(process.pid));
    }
  }
}

}  // namespace tracewell::server
