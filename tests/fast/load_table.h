// Loads that may fault in code that is called here, mended as a tracer would.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

#include "base/check.h"

namespace tracewell::fast {

/// All threads of the process: where loads may fault, and where their threads go on.
class LoadTable {
 public:
  static void add(uint64_t base, uint64_t load, uint64_t resume) {
    static const bool caught = catch_faults();
    TW_CHECK(caught && count_ < kMax);
    table_[count_++] = {base + load, base + resume};
  }
  /// Code from `begin` to `end` is there no more.
  static void forget(uint64_t begin, uint64_t end) {
    One* const last = std::remove_if(table_, table_ + count_, [&](const One& one) {
      return begin <= one.load && one.load < end;
    });
    count_ = static_cast<size_t>(last - table_);
  }
  static inline volatile uint64_t faults = 0;
  static inline volatile uint64_t last = 0;  // the load of the last one
  /// Called in the handler, as a handler of the program's that comes in between.
  static inline void (*volatile in_between)() = nullptr;

 private:
  struct One {
    uint64_t load, resume;
  };
  static constexpr size_t kMax = 1 << 16;
  static inline One table_[kMax];
  static inline size_t count_ = 0;
  static void mend(int signal, siginfo_t*, void* context) {
    auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    for (size_t i = 0; i < count_; ++i) {
      if (table_[i].load != static_cast<uint64_t>(rip)) continue;
      rip = static_cast<greg_t>(table_[i].resume);
      faults = faults + 1;
      last = table_[i].load;
      if (in_between != nullptr) in_between();
      return;
    }
    std::signal(signal, SIG_DFL);
  }
  static bool catch_faults() {
    struct sigaction action {};
    action.sa_sigaction = mend;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
  }
};

}  // namespace tracewell::fast
