// Source, Sink and pump: the whole converter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/folder.h"
#include "base/result.h"
#include "model/batch.h"
#include "model/capabilities.h"
#include "model/catalog.h"

namespace tracewell {

/// Hands out events in order. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  virtual const Catalog& catalog() const = 0;
  /// Clears `batch` and fills it with the next events. false = there are no more (batch is empty).
  virtual Result<bool> next(Batch& batch) = 0;

  // Capabilities: null = this source has it not.
  virtual Seekable* seekable() { return nullptr; }
  virtual FrameIndex* frames() { return nullptr; }
  virtual StepIndex* steps() { return nullptr; }
  virtual const Summary* summary() const { return nullptr; }
  virtual const ReaderNotes* reader_notes() const { return nullptr; }
  /// That it is read from, if its trace is several files.
  virtual const Folder* folder() const { return nullptr; }
};

inline Result<std::unique_ptr<Source>> StepIndex::open_meaning_at(uint64_t seq) const {
  return open_at(seq);
}
inline Result<std::unique_ptr<Source>> StepIndex::open_thread_at(uint64_t seq,
                                                                uint64_t tid) const {
  static_cast<void>(tid);
  return open_at(seq);
}

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
  /// What was left out indeed, counted, one sentence each. Asked after finish().
  virtual std::vector<std::string> left_out() const { return {}; }
};

Status pump(Source& source, Sink& sink);
/// Asks before each batch whether to go on. An error: it has not finished, and `sink` is to be
/// dropped. `go_on` may be empty.
Status pump(Source& source, Sink& sink, const std::function<Status()>& go_on);

}  // namespace tracewell
