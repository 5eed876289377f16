#include <gtest/gtest.h>

#include "agent/fast/thread_numbers.h"

namespace tracewell::agent {
namespace {

TEST(ThreadNumbers, AreOneWhereNobodyIsInANamespace) {
  ThreadNumbers numbers;
  numbers.add(70, 70);
  EXPECT_FALSE(numbers.differ(70));
  EXPECT_EQ(numbers.own(70), 70u);
  EXPECT_EQ(numbers.here(70), 70);
  EXPECT_EQ(numbers.here(71), 71) << "nobody has told of it, and there is only one number";
}

TEST(ThreadNumbers, OfANamespaceBelow) {
  ThreadNumbers numbers;
  numbers.add(5001, 1);
  numbers.add(5002, 2);
  EXPECT_TRUE(numbers.differ(5001));
  EXPECT_EQ(numbers.own(5002), 2u);
  EXPECT_EQ(numbers.here(2), 5002);
  EXPECT_EQ(numbers.here(3), 0) << "it is not somebody else's number here";
}

TEST(ThreadNumbers, WhatIsReadOfAnEndedThreadIsItsOwn) {
  ThreadNumbers numbers;
  numbers.add(5001, 1);
  numbers.add(5002, 2);
  numbers.end(5002);
  EXPECT_EQ(numbers.here(2), 5002);
  numbers.add(5003, 2);
  EXPECT_EQ(numbers.here(2), 5003) << "the number is another thread's by now";
}

TEST(ThreadNumbers, OneWhoseNumbersAreTheSame) {
  ThreadNumbers numbers;
  numbers.add(5001, 7);
  numbers.end(5001);
  numbers.add(7, 7);
  EXPECT_EQ(numbers.here(7), 7) << "the number was another's before";
  EXPECT_EQ(numbers.own(7), 7u);
}

TEST(ThreadNumbers, ANumberOfOursThatAnotherHasByNow) {
  ThreadNumbers numbers;
  numbers.add(9, 1);
  numbers.end(9);
  numbers.add(9, 2);
  for (int64_t i = 0; i < 10'000; ++i) {
    numbers.add(100'000 + i, 10 + i);
    numbers.end(100'000 + i);
  }
  EXPECT_EQ(numbers.here(1), 0) << "it ended long ago";
  EXPECT_EQ(numbers.here(2), 9);
}

TEST(ThreadNumbers, FewOfTheEndedAreKept) {
  ThreadNumbers numbers;
  numbers.add(9, 1);
  numbers.end(9);
  numbers.add(9, 1);  // both numbers once more
  for (int64_t i = 0; i < 10'000; ++i) {
    numbers.add(100'000 + i, 10 + i);
    numbers.end(100'000 + i);
  }
  EXPECT_EQ(numbers.here(1), 9) << "it lives";
  EXPECT_EQ(numbers.here(10), 0);
  EXPECT_EQ(numbers.here(10'009), 109'999);
}

}  // namespace
}  // namespace tracewell::agent
