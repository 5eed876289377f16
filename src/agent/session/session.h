// Session: one debugger's connection as a state machine. Bytes from the debugger go in, events of
// the target go in, bytes for the debugger come out. No sockets, no waiting: server/ owns those.
//
// All-stop: a packet that starts threads is answered by the stop reply, when the target tells an
// event. What the debugger sends meanwhile waits, except the requests to stop. Non-stop: see there.
//
// The Trace outlives sessions (disconnected tracing); the Session lives as long as its connection.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/session/client_features.h"
#include "agent/session/inbox.h"
#include "agent/session/inserted.h"
#include "agent/session/non_stop.h"
#include "agent/session/reply.h"
#include "agent/session/session_options.h"
#include "agent/trace.h"
#include "base/bytes.h"
#include "rsp/breakpoint.h"
#include "rsp/thread_id.h"
#include "target/target.h"

namespace tracewell::agent {

class Session {
 public:
  /// PacketSize: of the text between $ and #, both ways.
  static constexpr size_t kPacketBytesMax = 0x20000;
  /// Packets that may wait while the program runs.
  static constexpr size_t kWaitingMax = 64;
  /// Output that waits to be taken before more packets are looked at: a debugger that asks and does
  /// not listen must not fill our memory.
  static constexpr size_t kOutputBytesMax = 1 << 20;
  /// Breakpoints and watchpoints that are there at a time.
  static constexpr size_t kBreakpointsMax = 65536;

  Session(target::Target& target, Trace* trace, SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Bytes from the debugger, in any pieces.
  void feed(Bytes bytes);
  /// Goes on with what was fed, where it paused for its output to be taken. True: there is output.
  bool proceed();
  /// Something the target told.
  void on_event(const target::StopEvent& event);
  /// The target could not be resumed or waited for.
  void on_target_error(const Error& error);
  /// Bytes for the debugger since the last call.
  std::string take_output();
  /// The target stands still again, and the debugger is not there to be told.
  void stopped();
  /// The connection is gone without a word, and the target stands still: takes the debugger's
  /// breakpoints out, but for those whose commands persist, and tells the trace. The program goes
  /// on if `run_on`, or if its trace or such commands are to do without a debugger.
  void on_disconnect(bool run_on);
  /// Instead of both, in non-stop mode: whoever runs runs on. Why the others do not is returned.
  std::map<target::Tid, target::StopEvent> leave_as_is();
  /// Threads run, in non-stop mode. They are stopped unless this debugger asks for that, too.
  void inherit(std::map<target::Tid, target::StopEvent> stops);

  /// Nothing has come yet that only a debugger says (SessionOptions::refuse_junk). The target may
  /// run meanwhile, and is left alone.
  bool in_doubt() const { return in_doubt_; }
  /// Called once, when doubt ends and before that packet is obeyed: the target must stand still
  /// behind it, or this session inherit(). May be empty.
  std::function<void()> on_debugger;

  /// Do threads run, so that wait() is due?
  bool running() const;
  /// The debugger said goodbye (D of the last process, k, monitor exit), or this is broken().
  bool finished() const { return finished_; }
  /// It broke the protocol, or the target failed and there is no reply to say so in.
  bool broken() const { return broken_; }
  bool server_exit() const { return server_exit_; }  // `monitor exit`; k without extended mode

  // --- for packet files --------------------------------------------------------------------------
  target::Target& target;
  Trace* trace;  // null: no tracing here
  SessionOptions options;
  ClientFeatures client;
  bool extended = false;         // `!`
  /// What Hg and Hc chose. nullopt: nobody, since that one is gone or was refused. Who has a number
  /// has its process's, too.
  std::optional<rsp::ThreadId> general_thread = rsp::kAnyThread, resume_thread = rsp::kAnyThread;
  std::optional<target::StopEvent> last_stop;
  std::optional<uint64_t> selected_frame;  // tfind
  bool knows_tracepoints = false;  // the debugger has defined them, or has asked for them
  /// qXfer documents, taken when offset 0 is read, so that later pieces fit. By object and annex.
  std::map<std::string, std::string, std::less<>> documents;
  std::map<int, HostFile> files;  // by the descriptor that the client has
  target::Pid files_of = 0;       // whose view packets mean (vFile:setfs); 0 = ours, and theirs
  size_t thread_list_at = 0;  // how far qsThreadInfo is
  NonStopState non_stop;
  /// Obeyed once frames().settled(), which proceed() asks. Until then nothing is to be fed.
  std::optional<std::string> postponed;

  /// The thread that register packets are about: the one that the debugger chose. When it is gone:
  /// another of its process (non-stop: none). When none was chosen: the one that stopped last, then
  /// the first there is.
  std::optional<target::ThreadInfo> current_thread() const;
  /// The process that memory and query packets are about. It outlives the thread that was chosen:
  /// stock GDB chooses anew only for another process.
  std::optional<target::Pid> current_pid() const;
  /// The process is gone, or about to be: nobody is chosen where it was.
  void unselect(target::Pid pid);
  /// An error when the debugger has yet to learn of an exec: what it asks to be done to the process
  /// is meant for a program that is gone.
  Status knows_program(target::Pid pid) const;
  /// nullptr when it does not live. `id.tid` 0 or -1 means the first one of the process, `id.pid` 0
  /// or -1 any process.
  const target::ThreadInfo* find_thread(rsp::ThreadId id) const;
  /// Of all processes that the debugger can know: without forks of which it has yet to be told.
  /// Valid until threads_changed() or the next resume.
  const std::vector<target::ThreadInfo>& threads() const;
  /// To be called after launch, attach, detach and kill.
  void threads_changed() { threads_.reset(); }
  std::string thread_name(target::Pid pid, target::Tid tid) const;  // as this client wants it

  /// Starts threads; the stop reply follows when the target tells.
  Status resume(std::vector<target::ResumeAction> actions);
  /// The same, and the reply to the packet.
  void resume(std::vector<target::ResumeAction> actions, Reply& reply);
  /// bs and bc, for targets with time_travel().
  void go_back(bool step, Reply& reply);
  Status set_non_stop(bool on);
  /// A process was started, attached to, or told to have stopped.
  void note_stop(const target::StopEvent& event);
  /// Begins to tell why each thread stands still that does; the first of it, or OK.
  std::string report_anew();
  /// Every thread of every process goes on, without a debugger to be told. The signal that the last
  /// stop was about is delivered if `with_signal`.
  void run_on(bool with_signal);
  /// Is a trace running that shall do without a debugger?
  bool traces_alone() const;
  /// Are there breakpoint commands that shall?
  bool commands_alone() const;
  std::string stop_reply(const target::StopEvent& event, bool all_registers = false);
  Status go_on(uint64_t bytes) { return inbox_.go_on(bytes); }  // see there
  /// Inserts or removes, and remembers what is to be removed should the debugger vanish.
  Status set_breakpoint(target::Pid pid, const rsp::BreakpointRequest& request);
  void forget_breakpoints(target::Pid pid);
  /// No acks and checksums from the next packet on.
  void set_no_ack() { no_ack_next_ = true; }
  void finish() { finished_ = true; }
  void break_off() { finished_ = broken_ = true; }
  void finish_server() { finished_ = server_exit_ = true; }
  /// Console text for the debugger's user: only while it waits for a stop or a monitor command.
  /// What could act on a terminal is escaped (agent/session/shown_text.h).
  void console(std::string_view text);
  void console_remarks();  // of the trace, that nobody has been told yet
  void notice(std::string_view line) const;
  /// Did the user disable the packet of that name? A trailing separator does not count.
  bool disabled(std::string_view name) const;

 private:
  void begin(), end_doubt();
  void on_item(const rsp::Item& item);
  void on_packet(std::string packet);
  void on_interrupt();
  void handle(std::string_view packet);
  void cut_off();
  void send(std::string_view payload);
  void notify(std::string_view payload);
  void on_event_alone(const target::StopEvent& event);
  Status let_others_run();
  target::StopEvent stop_of(const target::ThreadInfo& thread) const;
  bool absorb(const target::StopEvent& event);
  target::StopEvent without_cut_steps(const target::StopEvent& event);
  void drain_waiting(), settle_selection(), ask_for_nothing(), remove_breakpoints();
  Status set_one_breakpoint(target::Pid pid, const rsp::BreakpointRequest& request);
  void inherit_breakpoints(const target::StopEvent& event);

  Inbox inbox_;
  std::deque<std::string> waiting_;
  std::string output_;
  std::string last_frame_;  // for a Nak
  std::vector<target::ResumeAction> last_actions_;
  std::set<Inserted> inserted_;
  mutable std::optional<std::vector<target::ThreadInfo>> threads_;
  bool no_ack_ = false, no_ack_next_ = false;
  bool in_doubt_ = false, asked_to_stop_ = false;  // the latter in doubt
  bool running_ = false, finished_ = false, broken_ = false, server_exit_ = false;
  bool told_end_ = false;  // of the recording, and nothing has moved since
};

}  // namespace tracewell::agent
