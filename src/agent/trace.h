// Trace: one tracing experiment as the packets see it. Live (engine.h) it is defined, started and
// stopped; recorded (recorded_trace.h) it can only be looked at. The same packet files serve both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"
#include "rsp/frame_select.h"
#include "target/target.h"

namespace tracewell::agent {

/// The frames of a trace, numbered from 0 without gaps.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  virtual uint64_t count() const = 0;
  /// Spans stay valid until the next call of a method that is not const.
  virtual Result<Frame> frame(uint64_t number) = 0;
  /// The first frame at or after `from` that `select` asks for. Frames are found by the pc that was
  /// recorded, wherever there is one.
  virtual std::optional<uint64_t> find(const rsp::FrameSelect& select, uint64_t from) = 0;
  /// qTBuffer's stream: whole frames as in a trace file, without the terminator.
  virtual uint64_t stream_bytes() const = 0;
  virtual Result<std::vector<uint8_t>> read_stream(uint64_t offset, size_t size) = 0;
};

/// Defining and running an experiment (manual, "Tracepoint Packets").
class TraceControl {
 public:
  virtual ~TraceControl() = default;
  /// QTinit: no definitions, no variables but the builtin ones, an empty buffer, not running.
  virtual Status reset() = 0;
  /// A tracepoint with the same number and address again replaces the old one. `more` = its actions
  /// follow; while a trace runs it becomes live with the last of them.
  virtual Status define(TracepointDef definition, bool more) = 0;
  virtual Status add_actions(uint32_t number, uint64_t address, bool stepping,
                             std::vector<std::string> actions, bool more) = 0;
  /// One piece of source text; pieces of one string follow each other by `start`.
  virtual Status add_source(uint32_t number, uint64_t address, std::string type, uint64_t start,
                            uint64_t length, std::string text) = 0;
  virtual Status define_variable(VariableDef definition) = 0;
  virtual void set_read_only(std::vector<std::pair<uint64_t, uint64_t>> ranges) = 0;  // end exclusive
  virtual Status enable(uint32_t number, uint64_t address, bool enabled) = 0;
  virtual Status start() = 0;
  virtual Status stop() = 0;
  virtual Status set_circular(bool circular) = 0;
  virtual Status set_buffer_size(std::optional<uint64_t> bytes) = 0;  // nullopt = the default
  virtual void set_disconnected(bool disconnected) = 0;
  virtual void set_note(std::string_view type, std::string text) = 0;  // user, notes, tstop
  /// The debugger went away: the run stops unless it asked for disconnected tracing.
  virtual void client_lost() = 0;
};

class Trace {
 public:
  virtual ~Trace() = default;
  virtual const std::vector<TracepointDef>& tracepoints() const = 0;
  virtual const std::vector<VariableDef>& variables() const = 0;
  virtual RunStatus status() const = 0;
  /// Hits and bytes of one location; nullopt = no such tracepoint.
  virtual std::optional<TracepointDef::Usage> usage(uint32_t number, uint64_t address) const = 0;
  /// The current value; nullopt = no such variable (or none was kept).
  virtual std::optional<int64_t> variable(uint32_t number) const = 0;
  virtual FrameStore& frames() = 0;
  /// May a read of this range be served from live (or the executable's) memory while a frame is
  /// selected?
  virtual bool read_only(target::Pid pid, uint64_t address, uint64_t size) = 0;
  /// Null for a recorded trace.
  virtual TraceControl* control() { return nullptr; }
};

}  // namespace tracewell::agent
