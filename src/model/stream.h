// Source, Sink and pump: the whole converter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/batch.h"
#include "model/catalog.h"

namespace tracewell {

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

/// Hands out events in order. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Catalog& catalog() const = 0;
  /// Clears `batch` and fills it with the next events. false = there are no more (batch is empty).
  virtual Result<bool> next(Batch& batch) = 0;
  virtual Seekable* seekable() { return nullptr; }
  virtual FrameIndex* frames() { return nullptr; }
};

/// Takes events in order: begin, then write any number of times, then finish. A sink that is
/// destroyed without finish() leaves nothing behind.
class Sink {
 public:
  virtual ~Sink() = default;
  /// What this sink cannot carry of such a trace, one sentence each; the user is told beforehand.
  virtual std::vector<std::string> refuses(const Catalog&) const { return {}; }
  virtual Status begin(const Catalog& catalog) = 0;
  virtual Status write(const Batch& batch) = 0;
  virtual Status finish() = 0;
};

Status pump(Source& source, Sink& sink);

}  // namespace tracewell
