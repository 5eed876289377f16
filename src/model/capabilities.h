// What only some sources can do or know. Each is had from Source by a function that returns null
// where there is none; there is no other way to ask.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "model/registers.h"

namespace tracewell {

class Source;

/// Random access by event number. Offered by sources that keep an index.
class Seekable {
 public:
  virtual ~Seekable() = default;
  virtual uint64_t count() const = 0;
  /// The next `next()` begins with event `seq` (count() = at the end).
  virtual Status seek(uint64_t seq) = 0;
};

/// Frame searches from the index alone (manual, `QTFrame`). All begin at event `from`, go forward,
/// do not wrap, and answer the event's number or none.
class FrameIndex : public Seekable {
 public:
  virtual std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const = 0;
  /// Inclusive at both ends; lo = hi finds one pc.
  virtual std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const = 0;
  virtual std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo,
                                                  uint64_t hi) const = 0;
};

/// Where a trace of steps went, and nothing else: for those who look at all of it, and seldom need
/// what an Event costs.
class StepFlow {
 public:
  struct Place {
    uint64_t pc = 0;
    uint64_t tid = 0;  // 0 = not known
    uint64_t seq = 0;
    /// The first 15 bytes of the opcode, then zeros; the last byte is how many these are.
    std::array<uint8_t, 16> code = {};
  };
  virtual ~StepFlow() = default;
  /// Appends the places of the next steps, some thousand at most. false = there are no more.
  virtual Result<bool> next(std::vector<Place>& places) = 0;
};

/// Random access to a trace of steps; count() is the number of steps. After seek() every thread's
/// first step tells all of its known registers in `before`, as at the start of a session.
class StepIndex : public Seekable {
 public:
  /// The registers of the thread that runs step `seq`, before it, from the nearest keyframe and
  /// without decoding instructions. InvalidArgument when seq >= count().
  struct Moment {
    uint64_t tid = 0;  // 0 = not known
    uint64_t pc = 0;
    RegisterState registers;  // in the catalog's layout
  };
  virtual Status state_before(uint64_t seq, Moment& moment) = 0;
  /// Steps at which reading can begin at no cost, ascending; the first is 0 unless there are none.
  virtual std::span<const uint64_t> keyframes() const = 0;
  /// The first step of each session, ascending.
  virtual std::span<const uint64_t> sessions() const = 0;
  /// The first step of each session, and each step behind a loss, ascending: what was known of
  /// memory and of registers in front of these holds no longer.
  virtual std::span<const uint64_t> stretches() const { return sessions(); }
  /// A reader of its own over the same file, whose next() begins at step `seq` as after seek(). It
  /// may be used by another thread and outlive this source; it shares what is read-only, and
  /// reports no problems (this source's reader does).
  virtual Result<std::unique_ptr<Source>> open_at(uint64_t seq) const = 0;
  /// The same for those who want no Step::stored, which may be left out.
  virtual Result<std::unique_ptr<Source>> open_meaning_at(uint64_t seq) const;
  /// The same for those who want the registers of thread `tid` alone: of the first steps of others,
  /// those may be left out that the trace does not tell there.
  virtual Result<std::unique_ptr<Source>> open_thread_at(uint64_t seq, uint64_t tid) const;
  /// From step `seq`, without what open_at() would read of registers and memory. May be used by
  /// another thread and outlive this source. nullptr when there is no such short cut.
  virtual std::unique_ptr<StepFlow> flow_at(uint64_t seq) const {
    static_cast<void>(seq);
    return nullptr;
  }
  /// The file has grown? Takes in what was added, without reading the rest again. True if there is
  /// more now.
  virtual Result<bool> refresh() = 0;
};

/// What is known of a whole trace without a walk over its events.
class Summary {
 public:
  virtual ~Summary() = default;
  /// Distinct threads that events name; 0 = no event names any.
  virtual uint64_t thread_count() const = 0;
  /// What else people want to know of such a file: names of one word, and values.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

/// Of sources that look through a file before they read it: what they found, for the next one.
class ReaderNotes {
 public:
  virtual ~ReaderNotes() = default;
  /// For formats::OpenOptions::notes. The same of the same file; empty = there is nothing to tell.
  virtual std::vector<uint8_t> notes() const = 0;
  /// Nothing is missing, odd or not known: to read all of it tells no problem that was not told
  /// when it was opened, and a step that is read alone is what it is where all are read.
  virtual bool is_sound() const { return false; }
};

}  // namespace tracewell
