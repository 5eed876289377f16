// What a session is allowed, and whom it tells.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/session/breakpoint_programs.h"
#include "agent/trace.h"
#include "base/result.h"
#include "target/listed_file.h"
#include "target/target.h"

namespace tracewell::agent {

/// What a descriptor of vFile stands for.
struct HostFile {
  int fd = -1;                                 // ours, or
  const target::ListedFile* listed = nullptr;  // one of SessionOptions::listed_files
  uint64_t read_at = 0, piece = 0;             // the last vFile:pread
};

/// What the user allowed on the command line, and whom to tell.
struct SessionOptions {
  enum class Files : uint8_t { None, Listed, ReadOnly, ReadWrite };  // vFile
  Files files = Files::ReadWrite;
  std::vector<target::ListedFile> listed_files;  // Listed: these may be read, by absolute path
  target::Processes::LaunchOptions launch;  // of the program, and defaults for vRun
  /// --disable-packet: names of packets (without separator) to be unknown. Of stop
  /// replies, "Tstop" stands for all but the signal and "Tthread" for the thread.
  std::set<std::string, std::less<>> disabled;
  /// Where others than debuggers can connect, a browser for one: the connection ends with a byte
  /// that no debugger sends, and nothing is obeyed that a request may hold (rsp::Decoder). What has
  /// not shown to be a debugger changes nothing (Session::in_doubt()). A noisy line is no reason.
  bool refuse_junk = false;
  /// The first stop that a debugger asks for where it has found threads running is a sample
  /// (target::NonStop). One that asks to be told of new threads stops all of them, and means it.
  bool samples = false;
  /// One line for the server's user ("Detaching from process 7"); may be empty.
  std::function<void(std::string_view)> notice;
  /// Each packet that comes (true) and goes; may be empty.
  std::function<void(bool received, std::string_view packet)> log_packet;
  /// QTSave: writes the trace to a file of that name, or says why not; may be empty.
  std::function<Status(std::string_view name, const GoOn& go_on)> save;
  /// For a packet that takes long to answer: what the debugger has sent since, or nothing of it
  /// where `more` is false. nullopt: it is gone, or the server is to end. May be empty.
  std::function<std::optional<std::string>(bool more)> look_up;
  /// Takes what breakpoint commands print; may be empty.
  std::function<void(std::string_view text)> print;
  /// Conditions and commands of breakpoints; made by the first session, to be handed to the next
  /// ones of the same target.
  std::shared_ptr<BreakpointPrograms> programs;
  /// `monitor set NAME VALUE`: false when there is no such setting; may be empty.
  std::function<bool(std::string_view name, std::string_view value)> set;
  /// May thread-local variables be looked for? An error says why not; empty: they may.
  std::function<Status()> thread_locals;
};

}  // namespace tracewell::agent
