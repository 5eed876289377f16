// Memory of ours in the program, far away from where it maps its own; and such that it shares with
// us.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/linux/inject/injector.h"

namespace tracewell::target::live {

/// Of a call in the program.
bool call_failed(const Result<int64_t>& result);

class FarMemory {
 public:
  static constexpr uint64_t kPage = 4096;
  static uint64_t whole_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  explicit FarMemory(Injector& injector) : injector_(injector) {}

  /// Where it is; as mmap(2) has it.
  Result<uint64_t> map(Thread& thread, uint64_t bytes, int protection, int flags, int fd);
  void unlock(Thread& thread, uint64_t start, uint64_t bytes);
  /// A memfd in the program. Not where a thread may not read the time stamp counter. `locks`: all
  /// memory to come may be locked (mlockall, MCL_FUTURE), and so filled at once.
  Result<int64_t> make_shared(Thread& thread, bool& locks);
  Result<uint64_t> map_shared(Thread& thread, uint64_t bytes, int fd, bool locks);
  /// Before the first thread of a fork runs: nothing of what its parent shares with us stays its.
  void unshare(Thread& thread);

 private:
  Injector& injector_;
};

}  // namespace tracewell::target::live
