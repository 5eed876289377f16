// Catalog: what was known of a trace before its first event. It does not change after; what is
// known later is an event, a Change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/endian.h"
#include "model/process.h"
#include "model/registers.h"

namespace tracewell {

/// A tracepoint at one address. Identity is (number, address): a tracepoint with several locations
/// stands here once for each. Texts are the remote protocol's (manual, "Tracepoint Packets").
struct TracepointDef {
  struct Source {
    std::string type;  // "at", "cond", "cmd"
    std::string text;  // what the user typed
  };
  struct Usage {
    uint64_t hits = 0;
    uint64_t bytes = 0;
  };

  uint32_t number = 0;
  uint64_t address = 0;
  bool enabled = true;
  uint64_t step_count = 0;
  uint64_t pass_count = 0;
  std::optional<uint64_t> fast_length;  // of the instruction, in bytes: a fast tracepoint
  bool is_static = false;
  std::vector<uint8_t> condition;          // agent bytecode; empty = none
  std::vector<std::string> actions;        // "R…", "M…", "X…", "L", in order
  std::vector<std::string> step_actions;   // of while-stepping, in order
  std::vector<Source> sources;             // in order
  std::optional<Usage> usage;
};

/// A trace state variable (`tvariable`).
struct VariableDef {
  uint32_t number = 0;
  int64_t initial_value = 0;
  bool builtin = false;
  std::string name;  // without the $
};

/// How a tracing run stands or ended (manual, `qTStatus`). Absent counters were not reported.
struct RunStatus {
  enum class Stop : uint8_t {
    NotRun,
    Requested,
    BufferFull,
    Disconnected,
    PassCount,
    Failed,
    Unknown,
  };

  bool running = false;
  Stop stop = Stop::NotRun;
  std::string stop_text;            // the user's stop note, or the error's text
  uint32_t stop_tracepoint = 0;     // for PassCount and Failed
  std::optional<uint64_t> frames, frames_created, buffer_free, buffer_size;
  std::optional<bool> circular, disconnected;
  std::optional<uint64_t> start_time_us, stop_time_us;  // Unix epoch
  std::optional<std::string> user_name, notes;
};

/// An executable or shared library as it was mapped.
struct Module {
  std::string path;
  uint64_t bias = 0;        // what to add to the file's own addresses
  uint64_t start = 0;       // lowest mapped address
  uint64_t size_bytes = 0;  // 0 = not known
  std::string build_id;     // hex, may be empty
  /// As symbols::program_hash() computes it, of the file; traces of x64dbg name it.
  std::optional<uint64_t> hash = {};

  /// Is it known where it was?
  bool is_placed() const { return bias != 0 || start != 0 || size_bytes != 0; }
};

/// What somebody wrote at a step. In a stream of events it is a Mark in front of that step.
struct Note {
  uint64_t step = 0;  // counted from 0; their number: behind the last one
  std::string text;
};

struct Catalog {
  Endian endian = Endian::Little;
  std::string machine = "unknown";   // "x86-64", "i386", "powerpc", … or "unknown"
  uint32_t address_bytes = 8;
  RegisterLayout registers;
  std::string target_description;    // XML as it was given; empty = none
  std::vector<TracepointDef> tracepoints;
  std::vector<VariableDef> variables;
  std::optional<RunStatus> status;
  std::vector<Module> modules;       // the main executable first
  std::vector<Process> processes;    // Event::process 1 is the first of them
  std::vector<Note> notes;           // those that no Mark tells, by ascending step
  std::vector<uint8_t> auxv;         // as the kernel gave it; empty = not known
  std::string source_path;           // where the trace came from; "" = no file
  /// Unix epoch. When tracing went on first, where the trace tells that apart from its events, some
  /// of which may be forged. Nothing was recorded before.
  std::optional<int64_t> began_ns;
  /// What a reader did not understand or could not express here, in order, so that writing the
  /// same format again loses nothing. Keys begin with the format's name and a dot.
  std::vector<std::pair<std::string, std::string>> extras;
};

}  // namespace tracewell
