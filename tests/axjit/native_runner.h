// Runs compiled expressions in the test's own process, the way a pad and a tracer would: code in
// memory of its own, a handler of SIGSEGV and SIGBUS that sets threads at listed loads on, and a
// caller that watches all general registers and the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ax/native.h"
#include "axjit/compile.h"

namespace tracewell::axjit {

struct WatchedRun {
  tracewell_native_outcome outcome{};
  uint16_t changed = 0;         // bit n: general register n is not what it was
  bool context_kept = false;    // rdi
  bool within_stack = true;     // nothing below `stack_bytes` was touched; watched without calls
  size_t faults = 0;            // loads that faulted and were set on
};

/// One at a time in a process. Not for threads.
class NativeRunner {
 public:
  NativeRunner();
  ~NativeRunner();
  NativeRunner(const NativeRunner&) = delete;
  NativeRunner& operator=(const NativeRunner&) = delete;

  /// Puts the code somewhere, a different place each time, and a return behind it, where code goes
  /// on that falls out. Valid until the next load().
  void load(const Native& native);
  /// Calls what was loaded last.
  WatchedRun run(tracewell_native_context& context);
  const void* entry() const { return entry_; }

 private:
  uint8_t* code_ = nullptr;
  uint8_t* stack_ = nullptr;
  uint8_t* entry_ = nullptr;
  Native native_;
  size_t turn_ = 0;
};

}  // namespace tracewell::axjit
