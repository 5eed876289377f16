// Opens a recording. That may take long (an index is made), so a thread of its own does it while a
// debugger waits.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "base/files/file.h"
#include "base/result.h"
#include "server/replay/recording.h"

namespace tracewell::server {

/// Used by one other thread.
class Opening {
 public:
  /// The work. `stop` becomes true when nobody waits any more; it makes `writes` true before it
  /// begins a file that an end in the middle would leave behind.
  using Work = std::function<Result<std::unique_ptr<Recording>>(const std::atomic<bool>& stop,
                                                                std::atomic<bool>& writes)>;
  static Result<std::unique_ptr<Opening>> start(Work work);
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

}  // namespace tracewell::server
