// Trace state variables that pads in the process change while a trap's expressions run.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "agent/buffer/trace_buffer.h"
#include "agent/engine/collector.h"
#include "agent/engine/variables.h"

namespace tracewell::agent {
namespace {

/// Looks at a register are where others come in between.
class BusyHit final : public target::HitContext {
 public:
  target::Pid pid() const override { return 1; }
  target::Tid tid() const override { return 1; }
  uint64_t pc() const override { return 0x1000; }
  bool read_register(uint32_t, uint64_t& value) override {
    value = 1;
    if (meanwhile) meanwhile();
    return true;
  }
  Bytes registers() override { return {}; }
  void read_memory(std::span<Range>) override {}

  std::function<void()> meanwhile;
};

class SharedVariables : public ::testing::Test {
 protected:
  SharedVariables() {
    variables.define({.number = 7, .initial_value = 100, .builtin = false, .name = "count"});
    variables.live_in(cells);
  }
  std::array<uint64_t, 8> cells{};
  Variables variables;
  TraceBuffer buffer;
  Collector collector{variables, buffer};
  BusyHit hit;
  // $count = $count + $reg0; the sum is the value
  const std::vector<uint8_t> count = {0x2c, 0, 7, 0x26, 0, 0, 0x02, 0x2d, 0, 7, 0x27};
};

TEST_F(SharedVariables, CountsOfOthersAreNotLost) {
  int others = 0;
  hit.meanwhile = [&] {
    if (others == 5) return;
    ++others;
    cells[*variables.cell(7)] += 10;
  };
  const auto verdict = collector.evaluate(hit, count, 0);
  EXPECT_TRUE(verdict.holds && verdict.fault.ok());
  EXPECT_EQ(others, 5);
  EXPECT_EQ(variables.value(7, 0), 100 + 50 + 1);
}

TEST_F(SharedVariables, AreSetWhereNobodyHasLookedAtThem) {
  hit.meanwhile = [&] { cells[*variables.cell(7)] += 10; };
  // $reg0; $count = 5
  const std::vector<uint8_t> five = {0x26, 0, 0, 0x22, 5, 0x2d, 0, 7, 0x27};
  collector.evaluate(hit, five, 0);
  EXPECT_EQ(variables.value(7, 0), 5);
}

TEST_F(SharedVariables, WhatHasBeenDoneIsNotDoneAgain) {
  bool other = false;
  // $count = $count + 1 twice, and a look at a register in the middle of the second.
  std::vector<uint8_t> twice = {0x2c, 0, 7, 0x22, 1, 0x02, 0x2d, 0, 7, 0x29};
  twice.insert(twice.end(), count.begin(), count.end());
  hit.meanwhile = [&] {
    if (!std::exchange(other, true)) cells[*variables.cell(7)] += 10;
  };
  collector.evaluate(hit, twice, 0);
  EXPECT_EQ(variables.value(7, 0), 102) << "the other's count is lost, ours are not doubled";
}

}  // namespace
}  // namespace tracewell::agent
