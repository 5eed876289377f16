// A forked child in which code may be written over: whatever becomes of it, the test goes on. What
// both see stands in memory that they share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tracewell::pads {

/// The counters of sites, in memory that a 32-bit address reaches; what a forked child tells.
struct Shared {
  static constexpr uint64_t kAt = 0x2000'0000;
  static constexpr size_t kCounters = 1 << 16;
  volatile uint64_t counters[kCounters];
  volatile uint64_t site;
  volatile uint64_t pads, traps, at_endbr;  // traps: elsewhere than at an endbr64
  volatile int64_t signal_code;  // of the signal that nobody expected, and where it came
  volatile uint64_t signal_at;
  char text[2048];

  static Shared& get() {
    static auto* const made = static_cast<Shared*>(
        mmap(reinterpret_cast<void*>(kAt), sizeof(Shared), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    return *made;
  }
  void clear_counters(size_t count) {
    for (size_t i = 0; i < count; ++i) counters[i] = 0;
  }
};

/// Runs `work` in a forked child; it tells what is wrong, or "".
inline void in_child(const std::function<std::string()>& work) {
  Shared& shared = Shared::get();
  shared.text[0] = 0;
  shared.site = 0;
  shared.pads = 0;
  shared.traps = 0;
  shared.at_endbr = 0;
  shared.signal_code = 0;
  shared.signal_at = 0;
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(300);
    const std::string wrong = work();
    std::snprintf(shared.text, sizeof shared.text, "%s", wrong.c_str());
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", code " << shared.signal_code
                                 << ", at 0x" << std::hex << shared.signal_at
                                 << " with a pad at 0x" << shared.site;
  // The handlers of traps cannot do more than end it.
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0)
      << "a trap that is none of ours, with a pad at 0x" << std::hex << shared.site;
  EXPECT_STREQ(shared.text, "");
}

}  // namespace tracewell::pads
