// The registers of many threads, against a whole block for each of them.
#include "timeline/index/thread_states.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"

namespace tracewell::timeline::test {
namespace {

RegisterLayout layout_of(uint32_t registers, uint32_t size_max) {
  RegisterLayout out;
  for (uint32_t i = 0; i < registers; ++i) {
    Register one;
    one.number = i;
    one.offset = out.size_bytes;
    one.size_bytes = 1 + i * 7 % size_max;
    out.size_bytes += one.size_bytes;
    out.registers.push_back(one);
  }
  return out;
}

void same_as_blocks(const RegisterLayout& layout, uint32_t threads) {
  std::mt19937 random(threads);
  std::vector<RegisterState> naive;
  ThreadStates states(layout);
  uint64_t known = 0, held = 0;
  const auto count = static_cast<uint32_t>(layout.registers.size());
  for (size_t i = 0; i < 100000; i += tracewell::test::kEach) {
    const size_t met = std::min<size_t>(naive.size() + 1, threads);
    const auto number = static_cast<uint32_t>(random() % met);
    if (number == naive.size()) naive.emplace_back().reset(layout);
    RegisterState& wanted = naive[number];
    ThreadStates::State state = states.of(number);
    // Some registers more often than others, so that many are told again.
    const uint32_t index = random() % (random() % 2 == 0 ? count : std::min(count, 9u));
    const Register& one = layout.registers[index];
    ASSERT_EQ(state.is_valid(index), wanted.is_valid(index));
    if (wanted.is_valid(index)) {
      std::vector<uint8_t> value(wanted.block.begin() + one.offset,
                                 wanted.block.begin() + one.offset + one.size_bytes);
      ASSERT_TRUE(state.holds(index, value));
      value[random() % value.size()] ^= 1;
      ASSERT_FALSE(state.holds(index, value));
      ++held;
    }
    std::vector<uint8_t> value(random() % 4 == 0 ? 0 : one.size_bytes);
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(random() % 3);
    state.set(index, value);
    wanted.set(layout, index, value);
    ASSERT_EQ(state.is_valid(index), !value.empty());
    known += value.empty() ? 0 : 1;
  }
  EXPECT_GT(held, 10000u / tracewell::test::kEach);
  EXPECT_GT(known, 50000u / tracewell::test::kEach);
}

TEST(ThreadStates, HoldWhatWholeBlocksHold) {
  same_as_blocks(layout_of(20, 16), 40);
  same_as_blocks(layout_of(100, 200), 200);
  same_as_blocks(layout_of(3000, 20), 40);
  same_as_blocks(layout_of(600, 700), 5);
}

/// What many threads take is what was told of them, and not their blocks.
TEST(ThreadStates, ThreadsOfWhichLittleIsToldTakeLittle) {
  const RegisterLayout layout = layout_of(16000, 15);
  const std::vector<uint8_t> value(layout.registers[15999].size_bytes, 1);
  ThreadStates states(layout);
  for (uint32_t number = 0; number < 10000; ++number) states.of(number).set(15999, value);
  EXPECT_LT(states.size_bytes(), 10000u * 500);
}

}  // namespace
}  // namespace tracewell::timeline::test
