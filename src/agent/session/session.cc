#include "agent/session/session.h"

#include <unistd.h>

#include <algorithm>

#include "agent/packets.h"
#include "agent/session/shown_text.h"

namespace tracewell::agent {

Session::Session(target::Target& the_target, Trace* the_trace, SessionOptions the_options)
    : target(the_target),
      trace(the_trace),
      options(std::move(the_options)),
      inbox_(kPacketBytesMax, options.look_up, [this] {
        target::ProcessFacts* const facts = target.facts();
        return facts != nullptr && facts->gives_up();
      }) {
  inbox_.decoder.tell_junk(options.refuse_junk);
  in_doubt_ = inbox_.decoder.in_doubt();
  if (!in_doubt_) begin();
}

/// What the debugger before has left is of no use any more.
void Session::begin() {
  ask_for_nothing();
  // Told to everybody: what is meant for the program before would reach the new one.
  if (auto* processes = target.process_control()) processes->report_forks(false, false, true);
  if (!target.breakpoints()) return;
  if (!options.programs) options.programs = std::make_shared<BreakpointPrograms>(target, trace);
  options.programs->attend(options.notice, options.print);
}

void Session::end_doubt() {
  in_doubt_ = false;
  if (on_debugger) on_debugger();
  threads_changed();
  if (finished_) return;
  begin();
  if (std::exchange(asked_to_stop_, false)) on_interrupt();
}

/// What an earlier debugger wanted to be told of.
void Session::ask_for_nothing() {
  if (auto* processes = target.process_control()) {
    processes->report_forks(false, false, false);
    processes->report_threads(false);
  }
  if (auto* calls = target.system_calls())
    for (const target::ProcessInfo& process : target.processes())
      best_effort(calls->catch_system_calls(process.pid, false, {}));
}

Session::~Session() {
  for (const auto& [theirs, ours] : files)
    if (ours.fd >= 0) ::close(ours.fd);
}

void Session::feed(Bytes bytes) {
  inbox_.feed(bytes);
  (void)proceed();
}

bool Session::proceed() {
  while (!finished_ && output_.size() < kOutputBytesMax) {
    if (postponed) {
      if (!trace->frames().settled()) break;
      const std::string packet = *std::exchange(postponed, std::nullopt);
      handle(packet);
      drain_waiting();
      continue;
    }
    auto item = inbox_.next();
    if (!item) break;
    on_item(*item);
  }
  return !output_.empty();
}

void Session::on_item(const rsp::Item& item) {
  if (in_doubt_ && !inbox_.decoder.in_doubt()) end_doubt();
  if (finished_) return;
  switch (item.kind) {
    case rsp::Item::Kind::Packet:
      if (!no_ack_) output_ += '+';
      on_packet(item.payload);
      break;
    case rsp::Item::Kind::BadPacket:
      if (!no_ack_) output_ += '-';
      break;
    case rsp::Item::Kind::Oversized:
      if (!no_ack_) output_ += '+';
      if (running_) return cut_off();
      send("E01");
      break;
    case rsp::Item::Kind::Nak:
      // One answer has been asked for again once, however often it is said before it leaves.
      if (output_.empty()) output_ = last_frame_;
      break;
    case rsp::Item::Kind::Interrupt:
      on_interrupt();
      break;
    case rsp::Item::Kind::Junk:
      notice("The connection carries something else than the remote protocol; closing it");
      break_off();
      break;
    case rsp::Item::Kind::TooSoon:
      if (!no_ack_) output_ += '+';
      send("E." + std::string(rsp::kTooSoonText));
      notice("The connection begins with a packet that a web page can send; closing it");
      break_off();
      break;
    case rsp::Item::Kind::Ack:
    case rsp::Item::Kind::Notification:
      break;
  }
}

/// Between a stop reply and the next packet the debugger may be stepping by itself, so the request
/// stands until the program runs again; unless it repeats the one that has just been answered.
void Session::on_interrupt() {
  if (in_doubt_) {
    asked_to_stop_ = true;
    return;
  }
  const bool answered =
      !running_ && last_stop && last_stop->kind == target::StopEvent::Kind::Interrupted;
  if ((!answered || non_stop.on) && !target.processes().empty()) best_effort(target.interrupt());
}

void Session::on_packet(std::string packet) {
  if (options.log_packet) options.log_packet(true, packet);
  // What may be said to a running program: vCtrlC is Ctrl-C as a packet; k waits for the stop.
  if (non_stop.on) {
    threads_changed();  // they come and go
    settle_selection();
  }
  if (!running_ || packet == "vCtrlC") return handle(packet);
  if (packet == "k") best_effort(target.interrupt());
  if (waiting_.size() == kWaitingMax) return cut_off();
  waiting_.push_back(std::move(packet));
}

/// The client breaks the protocol, and any reply would be taken for the stop's.
void Session::cut_off() {
  notice("The debugger sends too much while the program runs; closing the connection");
  break_off();
}

void Session::handle(std::string_view packet) {
  Reply reply;
  if (trace && trace->control()) trace->control()->catch_up(!running_ && !non_stop.on);
  const PacketEntry* entry = find_packet(packet);
  if (entry && available(*this, entry->needs) && !disabled(entry->name))
    entry->handler(*this, packet.substr(entry->name.size()), reply);
  if (reply.is_later()) {
    postponed = packet;
    return;
  }
  if (!reply.silent()) send(reply.str());
  if (no_ack_next_) {
    no_ack_ = true;
    inbox_.decoder.set_no_ack(true);
  }
}

void Session::send(std::string_view payload) {
  if (options.log_packet) options.log_packet(false, payload);
  last_frame_ = rsp::frame(payload, true);
  output_ += last_frame_;
}

void Session::notify(std::string_view payload) {
  if (options.log_packet) options.log_packet(false, payload);
  output_ += rsp::frame(payload, false).replace(0, 1, "%");
}

void Session::drain_waiting() {
  while (!waiting_.empty() && !running_ && !finished_ && !postponed) {
    std::string packet = std::move(waiting_.front());
    waiting_.pop_front();
    handle(packet);
  }
}

std::string Session::take_output() { return std::exchange(output_, {}); }

void Session::console(std::string_view text) {
  const std::string shown = shown_text(text);
  // A packet has room for its size in characters, and each byte takes two.
  constexpr size_t kPieceBytes = kPacketBytesMax / 4;
  for (size_t at = 0; at < shown.size(); at += kPieceBytes) {
    Reply out;
    out.text("O").hex(as_bytes(shown).subspan(at, std::min(kPieceBytes, shown.size() - at)));
    send(out.str());
  }
}

void Session::console_remarks() {
  for (const std::string& line : trace->control()->remarks()) console(line + "\n");
}

void Session::notice(std::string_view line) const {
  if (options.notice) options.notice(line);
}

bool Session::disabled(std::string_view name) const {
  return options.disabled.count(without_separators(name)) != 0;
}

const std::vector<target::ThreadInfo>& Session::threads() const {
  if (threads_) return *threads_;
  threads_ = target.threads(0);
  std::set<target::Pid> untold;
  for (const target::UntoldFork& fork : target.untold_forks()) untold.insert(fork.pid);
  std::erase_if(*threads_, [&](const target::ThreadInfo& thread) {
    return untold.count(thread.pid) != 0 || non_stop.queue.holds_fork(thread.pid);
  });
  return *threads_;
}

const target::ThreadInfo* Session::find_thread(rsp::ThreadId id) const {
  for (const auto& thread : threads())
    if ((id.pid <= 0 || thread.pid == id.pid) && (id.tid <= 0 || thread.tid == id.tid))
      return &thread;
  return nullptr;
}

std::optional<target::ThreadInfo> Session::current_thread() const {
  if (!general_thread) return std::nullopt;
  const bool is_chosen = general_thread->pid > 0;
  const target::ThreadInfo* found = is_chosen ? find_thread(*general_thread) : nullptr;
  if (!found && is_chosen && non_stop.on) return std::nullopt;
  const target::Pid pid = is_chosen ? general_thread->pid : 0;
  if (!found && last_stop && (!is_chosen || last_stop->pid == pid))
    found = find_thread({last_stop->pid, last_stop->tid});
  if (!found) found = find_thread({pid, 0});
  if (!found) return std::nullopt;
  return *found;
}

std::optional<target::Pid> Session::current_pid() const {
  if (general_thread && general_thread->pid > 0) {
    if (!find_thread({general_thread->pid, 0})) return std::nullopt;
    return general_thread->pid;
  }
  const auto thread = current_thread();
  if (!thread) return std::nullopt;
  return thread->pid;
}

void Session::unselect(target::Pid pid) {
  for (auto* chosen : {&general_thread, &resume_thread})
    if (*chosen && (*chosen)->pid == pid) chosen->reset();
}

/// In non-stop mode whoever was taken for "any thread" stays it: what the debugger writes must not
/// go elsewhere because another thread has stopped meanwhile.
void Session::settle_selection() {
  if (!non_stop.confirmed || !general_thread || general_thread->pid > 0) return;
  if (const auto thread = current_thread()) general_thread = {thread->pid, thread->tid};
}

std::string Session::thread_name(target::Pid pid, target::Tid tid) const {
  return rsp::format_thread_id({pid, tid}, client.multiprocess);
}

}  // namespace tracewell::agent
