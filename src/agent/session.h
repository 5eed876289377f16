// Session: one debugger's connection as a state machine. Bytes from the debugger go in, events of
// the target go in, bytes for the debugger come out. No sockets, no waiting: cli/ owns those.
//
// The Trace outlives sessions (disconnected tracing); the Session lives as long as its connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/trace.h"
#include "base/bytes.h"
#include "rsp/framing.h"
#include "rsp/thread_id.h"
#include "target/target.h"

namespace tracewell::agent {

/// What the user allowed on the command line, and what is asked back.
struct SessionOptions {
  bool multi = false;                              // --multi: extended-remote without a process
  target::Processes::LaunchOptions launch;         // defaults for vRun
  std::function<void(std::string_view)> log;       // --debug: one line; may be empty
  std::function<void(std::string_view)> on_launch; // told a text such as "Process … created"
};

/// What the debugger said it understands (qSupported).
struct ClientFeatures {
  bool multiprocess = false;
  bool swbreak = false, hwbreak = false;
  bool fork_events = false, vfork_events = false, exec_events = false;
  bool thread_events = false;   // QThreadEvents:1
  bool no_resumed = false;
  bool error_message = false;   // E.text allowed everywhere
};

/// A reply under construction. Nothing written = the empty reply ("I do not know this packet").
class Reply {
 public:
  Reply& text(std::string_view part) { out_ += part; return *this; }
  Reply& hex(Bytes bytes);
  Reply& binary(Bytes bytes);  // escaped
  void ok() { out_ = "OK"; }
  void error(int code);                    // E01
  void error(const Error& error);          // E.text
  /// The packet has no reply now (vCont: the stop reply comes later).
  void none() { silent_ = true; }
  bool silent() const { return silent_; }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
  bool silent_ = false;
};

class Session {
 public:
  static constexpr size_t kPacketBytesMax = 0x20000;  // PacketSize, of the text between $ and #

  Session(target::Target& target, Trace* trace, SessionOptions options);

  /// Bytes from the debugger, in any pieces.
  void feed(Bytes bytes);
  /// Something the target told.
  void on_event(const target::StopEvent& event);
  /// Bytes for the debugger since the last call.
  std::string take_output();
  /// The connection is gone without a word: what disconnected tracing and attached processes need.
  void on_disconnect();

  /// Is the debugger waiting for a stop reply? Then the target runs and wait() is due.
  bool running() const { return running_; }
  /// The debugger said goodbye (D of the last process, k, vKill, monitor exit).
  bool finished() const { return finished_; }
  bool server_exit() const { return server_exit_; }  // `monitor exit`, k

  // --- for packet files --------------------------------------------------------------------------
  target::Target& target;
  Trace* trace;  // null: no tracing here
  SessionOptions options;
  ClientFeatures client;
  rsp::ThreadId general_thread;   // Hg
  rsp::ThreadId resume_thread;    // Hc
  std::optional<target::StopEvent> last_stop;
  std::optional<uint64_t> selected_frame;  // tfind

  /// The process and thread that register, memory and query packets are about; the first there is
  /// when the debugger named none that lives. nullopt = no process at all.
  std::optional<target::ThreadInfo> current_thread() const;
  std::optional<target::Pid> current_pid() const;
  std::string thread_name(target::Pid pid, target::Tid tid) const;  // as this client wants it

  /// Starts threads; the stop reply follows when the target tells.
  Status resume(std::vector<target::ResumeAction> actions);
  std::string stop_reply(const target::StopEvent& event);
  void set_no_ack(bool no_ack) { decoder_.set_no_ack(no_ack); no_ack_ = no_ack; }
  void finish() { finished_ = true; }
  void finish_server() { finished_ = server_exit_ = true; }
  /// Console text for the debugger's user (only while it waits for a stop or a monitor command).
  void console(std::string_view text);

 private:
  void handle(std::string_view packet);
  void send(std::string_view payload);
  rsp::Decoder decoder_;
  std::string output_;
  std::string last_frame_;  // for a Nak
  bool no_ack_ = false;
  bool running_ = false;
  bool finished_ = false;
  bool server_exit_ = false;
};

/// A packet handler: parses `body` (what follows the packet's name), does it, writes the reply.
using PacketHandler = void (*)(Session& session, std::string_view body, Reply& reply);

struct PacketEntry {
  std::string_view name;
  PacketHandler handler;
  std::string_view capability;  // "" = always there; see packets.def
};

/// The longest name that `packet` begins with; a name of more than one letter must be followed by
/// the end or a character that no name holds. nullptr = unknown, answered empty.
const PacketEntry* find_packet(std::string_view packet);

}  // namespace tracewell::agent
