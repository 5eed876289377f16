// What whoever started us asks of us, and where our output goes.
#include <csignal>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/process/held_signals.h"
#include "base/process/interrupt.h"
#include "base/process/terminal.h"

namespace tracewell {
namespace {

TEST(HeldSignals, WaitUntilTheyAreTaken) {
  const HeldSignals held;
  EXPECT_EQ(held.take(), 0);
  std::raise(SIGTERM);
  EXPECT_EQ(held.take(), SIGTERM);
  EXPECT_EQ(held.take(), 0);
}

TEST(HeldSignals, WhatComesFirstEndsAWait) {
  const HeldSignals held;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  EXPECT_EQ(held.wait_for(ends[0]), 0) << "it has ended";
  std::raise(SIGINT);
  EXPECT_EQ(held.wait_for(ends[0]), SIGINT);
  ::close(ends[0]);
}

TEST(InterruptGuard, EndsTheProgramLaterByTheSignalThatCame) {
  EXPECT_EXIT(
      {
        {
          const InterruptGuard guard;
          std::raise(SIGINT);
          if (interrupted() != SIGINT || !asked_to_end()) std::_Exit(1);
        }
        end_if_interrupted();
        std::_Exit(2);
      },
      testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(interrupted(), 0);
}

TEST(IsOutput, KnowsOtherNamesOfIt) {
  EXPECT_TRUE(is_output("-"));
  EXPECT_FALSE(is_output(testing::TempDir() + "nothing is here"));
  EXPECT_FALSE(is_output("/"));
}

}  // namespace
}  // namespace tracewell
