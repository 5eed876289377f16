// Transcripts: a debugger's conversation as text, played to a Session on a FakeTarget.
//
//   # a remark
//   @ process 7                 a line of FakeTarget's description (target/fake/fake_target.h)
//   @ trace | samples           there is an experiment, its clock stands still | --attach-running
//   @ files none|read-only      what vFile may do; default: everything
//   @ settings | no-libthread-db  `monitor set` takes anything; its search path leads to none
//   @ disable NAME              a packet that shall be unknown
//   -> qSupported:swbreak+      a packet; the player frames and acknowledges
//   => \x03                     bytes as they are
//   !! 7.7 breakpoint           an event line of FakeTarget
//   ~~                          the connection is gone; a new session follows
// What came of it is written below by a run with TRACEWELL_RENEW=1:
//   <- OK                       a reply, runs expanded
//   <% Stop:T05…                a notification
//   <= +                        after `=>`: bytes as they are
//   == resume 7:continue        what the target was asked to do
//   >> i=3\x0a                  what breakpoint commands printed
//   ** Detaching from process 7 what the server's user was told
//   || finished                 a change of the session: running, stopped, finished, server-exit
// The backslash, and what is not printable ASCII, is \xNN.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engine/engine.h"
#include "agent/session/session.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent::test {
inline std::string show(std::string_view bytes) {
  std::string out;
  for (char c : bytes)
    if (c >= 0x20 && c <= 0x7e && c != '\\') out += c;
    else out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  return out;
}

/// nullopt: a backslash without `xNN`.
inline std::optional<std::string> unshow(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    if (text.size() < 4 || text[1] != 'x') return std::nullopt;
    auto byte = text_from_hex(text.substr(2, 2));
    if (!byte) return std::nullopt;
    out += *byte;
    text.remove_prefix(4);
  }
  return out;
}

class Player {
 public:
  /// The transcript as it should be: inputs as they are, outcomes as they turned out.
  std::string play(std::string_view transcript) {
    for (std::string_view line : split(transcript, '\n')) {
      if (is_outcome(line)) continue;
      out_ += std::string(line) + '\n';
      if (line.size() < 2 || line[0] == '#') continue;
      const size_t blank = std::min(line.find(' '), line.size());
      if (!input(line.substr(0, blank), line.substr(std::min(blank + 1, line.size())))) {
        problem_ = line;
        return out_;
      }
      outcomes();
    }
    while (out_.ends_with("\n\n")) out_.pop_back();
    return out_;
  }
  const std::string& problem() const { return problem_; }  // the line that makes no sense, or ""

 private:
  static bool is_outcome(std::string_view line) {
    for (std::string_view mark : {"<- ", "<= ", "<% ", "== ", ">> ", "** ", "|| "})
      if (line.starts_with(mark)) return true;
    return line == "<-";
  }

  bool input(std::string_view mark, std::string_view text) {
    raw_ = mark == "=>";
    if (mark == "@") return describe(text);
    if (!session_) start();
    const auto bytes = unshow(text);
    if (!bytes) return false;
    if (mark == "->") session_->feed(as_bytes(rsp::frame(*bytes, false)));
    else if (mark == "=>") session_->feed(as_bytes(*bytes));
    else if (mark == "!!") return happen(text);
    else if (mark == "~~") return disconnect();
    else return false;
    return true;
  }

  bool describe(std::string_view text) {
    if (text == "trace") with_trace_ = true;
    else if (text == "files none") options_.files = SessionOptions::Files::None;
    else if (text == "files read-only") options_.files = SessionOptions::Files::ReadOnly;
    else if (text == "settings") options_.set = [](auto, auto) { return true; };
    else if (text == "no-libthread-db")
      options_.thread_locals = [] { return Status(Errc::NotFound, "no libthread_db"); };
    else if (text == "samples") options_.samples = true;
    else if (text.starts_with("disable ")) options_.disabled.emplace(text.substr(8));
    else return target_.learn(text).ok();
    return true;
  }

  void start() {
    if (with_trace_ && !trace_)
      trace_ = std::make_unique<Engine>(target_, [] { return int64_t{1'000'000'000'000'000'000}; });
    options_.notice = [this](std::string_view line) { notices_.emplace_back(line); };
    options_.print = [this](std::string_view text) { printed_.emplace_back(text); };
    session_ = std::make_unique<Session>(target_, trace_.get(), options_);
  }

  bool happen(std::string_view text) {
    const auto event = target_.event(text);
    if (event.ok() && *event) session_->on_event(**event);
    return event.ok();
  }

  bool disconnect() {
    const bool non_stop = session_->non_stop.on;
    std::map<target::Tid, target::StopEvent> stops;
    if (non_stop) {
      stops = session_->leave_as_is();
    } else {
      const bool ran = session_->running();
      session_->stopped();
      session_->on_disconnect(ran);
    }
    const auto last = session_->last_stop;
    options_.launch = session_->options.launch;
    options_.programs = session_->options.programs;
    outcomes();
    start();
    session_->last_stop = last;
    if (non_stop) session_->inherit(std::move(stops));
    was_running_ = session_->running();
    was_finished_ = false;
    return true;
  }

  void outcomes() {
    const auto add = [&](std::string_view mark, std::string_view text) {
      out_ += fmt::format("{} {}\n", mark, show(text));
    };
    for (const std::string& call : target_.take_calls()) add("==", call);
    for (const std::string& text : std::exchange(printed_, {})) add(">>", text);
    for (const std::string& line : std::exchange(notices_, {})) add("**", line);
    if (!session_) return;
    const std::string bytes = session_->take_output();
    if (raw_) {
      if (!bytes.empty()) add("<=", bytes);
    } else {
      replies(bytes);
    }
    if (session_->running() != was_running_) add("||", session_->running() ? "running" : "stopped");
    if (session_->finished() && !was_finished_)
      add("||", session_->server_exit() ? "server-exit" : "finished");
    was_running_ = session_->running();
    was_finished_ = session_->finished();
  }

  void replies(std::string_view bytes) {
    rsp::Decoder decoder(rsp::Sender::Stub);
    decoder.feed(bytes);
    while (auto item = decoder.next())
      if (item->kind == rsp::Item::Kind::Packet)
        out_ += item->payload.empty() ? "<-\n" : fmt::format("<- {}\n", show(item->payload));
      else if (item->kind == rsp::Item::Kind::Notification)
        out_ += fmt::format("<% {}\n", show(item->payload));
      else if (item->kind != rsp::Item::Kind::Ack)
        out_ += "<- (not a packet)\n";
  }

  target::FakeTarget target_;
  SessionOptions options_;
  bool with_trace_ = false;
  std::unique_ptr<Engine> trace_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> notices_, printed_;
  std::string out_, problem_;
  bool raw_ = false, was_running_ = false, was_finished_ = false;
};

}  // namespace tracewell::agent::test
