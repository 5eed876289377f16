// Which calls a return ends.
#include <gtest/gtest.h>

#include "machine/call_stack.h"

namespace tracewell::machine::test {
namespace {

using Arrival = CallStack::Arrival;

TEST(CallStack, ReturnsEndTheNearestThatWaitsThere) {
  CallStack stack;
  EXPECT_EQ(stack.call(0x2000, 0x1005), Arrival::Entered);
  EXPECT_EQ(stack.call(0x3000, 0x2005), Arrival::Entered);
  EXPECT_EQ(stack.call(0x3000, 0x3005), Arrival::Entered);
  EXPECT_EQ(stack.call(0x3000, 0x3005), Arrival::Entered);
  EXPECT_EQ(stack.come_back(0x3005), 1u);
  EXPECT_EQ(stack.come_back(0x9999), 0u) << "nobody waits there: a jump in disguise";
  EXPECT_EQ(stack.depth(), 3u);
  EXPECT_EQ(stack.come_back(0x1005), 3u) << "longjmp";
  EXPECT_EQ(stack.depth(), 0u);
  EXPECT_EQ(stack.come_back(0x1005), 0u);
}

TEST(CallStack, CallsThatLeadBehindThemselvesEnterNothing) {
  CallStack stack;
  EXPECT_EQ(stack.call(0x2000, 0x1005), Arrival::Entered);
  EXPECT_EQ(stack.call(0x2005, 0x2005), Arrival::Nowhere);
  EXPECT_EQ(stack.depth(), 1u);
  EXPECT_EQ(stack.come_back(0x1005), 1u);
}

TEST(CallStack, WhatIsTooDeepComesBack) {
  CallStack stack(2);
  stack.call(1, 11);
  stack.call(2, 12);
  EXPECT_EQ(stack.call(3, 13), Arrival::TooDeep);
  EXPECT_EQ(stack.call(4, 14), Arrival::TooDeep);
  EXPECT_EQ(stack.come_back(14), 0u);
  EXPECT_EQ(stack.come_back(13), 0u);
  EXPECT_EQ(stack.depth(), 2u);
  EXPECT_EQ(stack.come_back(12), 1u);
  EXPECT_EQ(stack.come_back(11), 1u);
}

}  // namespace
}  // namespace tracewell::machine::test
