// The word of a thread that dies, by whatever it dies.
#include "base/process/death_mark.h"

#include <atomic>
#include <csignal>
#include <optional>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

class DeathMarks : public ::testing::Test {
 protected:
  DeathMarks()
      : word_(*static_cast<uint32_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~DeathMarks() override { munmap(&word_, 4096); }
  uint32_t now() { return std::atomic_ref(word_).load(); }

  uint32_t& word_;
};

TEST_F(DeathMarks, OfAThreadThatLivesIsItsNumber) {
  {
    const DeathMark mark(word_);
    EXPECT_EQ(now(), static_cast<uint32_t>(gettid()));
  }
  EXPECT_EQ(now(), static_cast<uint32_t>(gettid())) << "what it is afterwards is the user's";
}

TEST_F(DeathMarks, TheKernelSaysThatItsOwnerDied) {
  for (const int how : {0, SIGKILL, SIGSEGV}) {
    const pid_t child = fork();
    if (child == 0) {
      const DeathMark mark(word_);
      if (how == 0) _exit(0);
      for (;;) pause();
    }
    if (how != 0) {
      while (now() != static_cast<uint32_t>(child)) usleep(100);
      kill(child, how);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(now(), FUTEX_OWNER_DIED) << how;
  }
}

TEST_F(DeathMarks, WhatIsAnothersIsLeftAlone) {
  const pid_t child = fork();
  if (child == 0) {
    const DeathMark mark(word_);
    std::atomic_ref(word_).store(7);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(now(), 7U);
}

}  // namespace
}  // namespace tracewell
