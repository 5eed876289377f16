// A recording that can be served: a trace, and all that it takes to answer for it. It may take long
// to open (an index is made), so a thread of its own does that while a debugger waits.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/trace.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/images.h"
#include "cli/trace_files.h"
#include "target/listed_file.h"
#include "target/target.h"

namespace tracewell::cli {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual target::Target& target() = 0;
  /// For the next debugger all is as it was for the first.
  virtual void rewind() {}
  virtual agent::Trace* trace() { return nullptr; }  // null: no frames to look at
  /// What a debugger may read of this machine.
  virtual std::vector<target::ListedFile> files() const = 0;
};

/// Doubts and problems are told to standard error.
Result<std::unique_ptr<Recording>> open_recording(const InputOptions& input,
                                                  const ImageOptions& images,
                                                  const OpenWatch& watch);

/// Opens a recording in a thread. Used by one other thread.
class Opening {
 public:
  static Result<std::unique_ptr<Opening>> start(const InputOptions& input,
                                                const ImageOptions& images);
  /// Waits, after stop().
  ~Opening();

  /// Readable once result() does not block.
  int done_fd() const { return done_.get(); }
  /// The recording, which lives as long as this, or why there is none. Blocks until it is there.
  Result<Recording*> result();
  /// The same for those who want to know only whether there is one; they wait no longer than until
  /// `quit_fd` is readable.
  Status outcome(int quit_fd);
  /// Nobody waits any more. False: the thread reads, cannot be stopped, and leaves nothing behind
  /// if the process ends now.
  bool stop();

 private:
  explicit Opening(UniqueFd done) : done_(std::move(done)) {}

  UniqueFd done_;
  std::atomic<bool> stop_ = false, writes_ = false, ended_ = false;
  Result<std::unique_ptr<Recording>> opened_ = Error{};
  std::thread thread_;
};

}  // namespace tracewell::cli
