// Trace: one tracing experiment as the packets see it. Live (engine.h) it is defined, started and
// stopped; recorded (recorded_trace.h) it can only be looked at. The same packet files serve both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/engine/markers.h"
#include "base/bytes.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/event.h"
#include "rsp/frame_select.h"
#include "rsp/qtdp.h"
#include "target/target.h"

namespace tracewell::agent {

/// Asked now and then by what takes long, with how much was done since. An error ends it.
using GoOn = std::function<Status(uint64_t bytes)>;

/// The frames of a trace, numbered from 0 without gaps.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  virtual uint64_t count() const = 0;
  /// Spans stay valid until the next call of a method that is not const.
  virtual Result<Frame> frame(uint64_t number) = 0;
  /// The first frame at or after `from` that `select` asks for. Frames are found by the pc that was
  /// recorded, wherever there is one. `go_on` may be empty.
  virtual Result<std::optional<uint64_t>> find(const rsp::FrameSelect& select, uint64_t from,
                                               const GoOn& go_on) = 0;
  /// qTBuffer's stream: whole frames as in a trace file, without the terminator.
  virtual uint64_t stream_bytes() const = 0;
  virtual Result<std::vector<uint8_t>> read_stream(uint64_t offset, size_t size) = 0;
  /// Has the memory of frames that TraceControl::reset() or empty_for() let go of gone back to the
  /// system? Until then start() and set_buffer_size() would wait for it, and nobody look after
  /// programs meanwhile. When it has, the target is woken.
  virtual bool settled() { return true; }
};

/// Defining and running an experiment (manual, "Tracepoint Packets"). All of it is called between
/// two waits of the target, by the session or by whoever keeps the trace while nobody is
/// connected.
class TraceControl {
 public:
  virtual ~TraceControl() = default;
  /// QTinit: no definitions, no variables but the builtin ones, an empty buffer, not running.
  virtual Status reset() = 0;
  /// Before set_buffer_size(), with the same size: an error that it would be, and nothing changes;
  /// or the frames go.
  virtual Status empty_for(std::optional<uint64_t> bytes) = 0;
  /// A tracepoint with the same number and address again replaces the old one. While a trace runs
  /// it becomes live with the last packet of its series. What cannot be accepted (or inserted) is
  /// forgotten as a whole.
  virtual Status define(rsp::QtdpDefinition definition) = 0;
  virtual Status add_actions(const rsp::QtdpActions& actions) = 0;
  /// The process that a trace runs of: what is defined meanwhile is put into it. 0: none runs.
  virtual target::Pid traced() const = 0;
  /// Of which a packet could not be understood. Nothing happens where there is no such tracepoint.
  virtual void forget(uint32_t number, uint64_t address) = 0;
  virtual Status add_source(const rsp::SourcePiece& piece) = 0;
  virtual Status define_variable(VariableDef definition) = 0;
  /// Assigns a variable; ignored for one that does not exist.
  virtual void set_variable(uint32_t number, int64_t value) = 0;
  /// Each call replaces the last; ends are exclusive.
  virtual void set_read_only(std::vector<std::pair<uint64_t, uint64_t>> ranges) = 0;
  virtual Status enable(uint32_t number, uint64_t address, bool enabled) = 0;
  /// Where static tracepoints can be in this process, by address.
  virtual std::vector<Marker> markers(target::Pid pid) = 0;
  /// Traces this process.
  virtual Status start(target::Pid pid) = 0;
  /// What is not as it was asked for though start() or stop() went well, a line each. Gone with the
  /// call.
  virtual std::vector<std::string> remarks() { return {}; }
  /// A line for each tracepoint: how its hits are collected, why so, and what a hit costs. Behind
  /// those, how many hits have no frame.
  virtual std::vector<std::string> describe_points() const { return {}; }
  virtual Status stop() = 0;
  virtual Status set_circular(bool circular) = 0;
  virtual Status set_buffer_size(std::optional<uint64_t> bytes) = 0;  // nullopt = the default
  virtual void set_disconnected(bool disconnected) = 0;
  virtual void set_note(std::string_view type, std::string text) = 0;  // user, notes, tstop
  /// The debugger went away: the run stops unless it asked for disconnected tracing.
  virtual void client_lost() = 0;
  /// To be told of every event that the target tells, before the session is: a run ends with its
  /// process (exit, death, exec). Frames and status stay.
  virtual void on_event(const target::StopEvent& event) = 0;
  /// We are about to detach from the process, or to kill it: its run ends while its sites can still
  /// be taken out. `unwanted`: its debugger kills it, and does not want its frames.
  virtual void let_go(target::Pid pid, bool unwanted = false) = 0;
  /// Takes in what was collected where nobody is told of it. Before each packet, and while threads
  /// run now and then. `stands`: no thread runs, so there is an end to it, and all of it is taken;
  /// else what there is time for.
  virtual void catch_up(bool stands) { static_cast<void>(stands); }
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
  /// The target description that the registers in the frames go by, for a debugger that comes when
  /// their process has gone. "": there are no frames, or nobody knows.
  virtual std::string description() { return {}; }
  /// The process that the frames are of, as long as it has the memory of then. 0 = none.
  virtual target::Pid frames_of() const { return 0; }
  /// May a read of this range be served from live (or the executable's) memory while a frame is
  /// selected?
  virtual bool read_only(target::Pid pid, uint64_t address, uint64_t size) = 0;
  /// Null for a recorded trace.
  virtual TraceControl* control() { return nullptr; }
};

}  // namespace tracewell::agent
