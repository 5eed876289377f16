// The server: one debugger after the other on one target, and what happens between them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/session/session.h"
#include "server/connection/link.h"
#include "server/keep_waiting.h"
#include "server/live/standing_time.h"

namespace tracewell::server {

/// Why run() ended.
enum class ServerEnd : uint8_t {
  Done,         // as it should
  Interrupted,  // SIGINT, SIGTERM, SIGHUP
  Failed,       // the target cannot be waited for
};

struct ServerOptions {
  bool once = false;   // end when the first debugger's connection does
  bool multi = false;  // stay without a process
  /// At the end: was the server killed? A trace that was to do without a debugger then leaves its
  /// program running. May be empty.
  std::function<bool()> killed;
  /// Told before the end's first deed: who is killed during the end has said so already. Told again
  /// of a failure that comes after. May be empty.
  std::function<void(ServerEnd)> ending;
  /// Told behind its last deed, unless it has failed. May be empty.
  std::function<void()> ended;
  agent::SessionOptions session;
};

class ServerLoop {
 public:
  /// All must outlive it. `trace` may be null.
  ServerLoop(target::Target& target, agent::Trace* trace, Link& link, ServerOptions options);

  /// What the first debugger is told of the program that was just started or attached to.
  void set_last_stop(target::StopEvent event) { last_stop_ = std::move(event); }

  /// It runs on instead, in non-stop mode: it is stopped by the first debugger that wants that.
  void set_alone() { alone_ = true; }
  /// It was found running, and has stood still since then. How long in all is told.
  void stands_since(StandingTime::Clock::time_point since) { stood_.begin(since); }

  /// Serves until the end; then kills what was started and lets go what was attached to.
  ServerEnd run();

 private:
  bool await_debugger();
  void serve_debugger();
  void meet(agent::Session& session);
  void converse(agent::Session& session);
  void take_leave(agent::Session& session);
  void feed(agent::Session& session, const std::string& input);
  void runs_on();
  bool talk(agent::Session& session);
  std::optional<std::string> look_up(bool more);
  void turn_away();
  void part(agent::Session& session);
  bool stays(const agent::Session& session) const;
  /// Was there a run that was told to do without a debugger? That it met nothing is news, too.
  bool traced_alone() const;
  void wait_for_link(int most_ms = -1);
  Result<std::optional<target::StopEvent>> wait_watched();
  void give_up(const Error& error);
  void wait_without_debugger();
  void run_unattended();
  void witness(const target::StopEvent& event) const;
  void pass_by(const target::StopEvent& event);
  void stop_target();
  void let_all_go();
  void notice(std::string_view line) const;
  void leave_alone(agent::Session& session);
  void watch_alone();
  void note_alone(const target::StopEvent& event);
  void run_alone();
  void end_alone();

  target::Target& target_;
  agent::Trace* trace_;
  Link& link_;
  KeepWaiting keep_waiting_;
  std::chrono::steady_clock::time_point looked_after_;  // the last time in the middle of a packet
  ServerOptions options_;
  std::optional<target::StopEvent> last_stop_;
  bool running_ = false;  // the target runs, and no session knows
  bool had_process_ = false;  // when this debugger came
  /// Non-stop: the debugger is gone, who ran runs on, and why the others stand still.
  bool alone_ = false;
  std::map<target::Tid, target::StopEvent> stops_;
  StandingTime stood_;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace tracewell::server
