// Arithmetic at its edges, each operand once as a constant and once out of a register, where
// nothing can be computed beforehand.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ax/opcodes.h"
#include "native_runner.h"
#include "world.h"

namespace tracewell::axjit {
namespace {

using ax::Opcode;
using ax::OpcodeInfo;

constexpr uint64_t kEdges[] = {
    0, 1, 2, 7, 31, 32, 63, 64, 65, 127, 128, 255, 1ull << 31, 0xffffffff, 1ull << 32,
    (1ull << 63) - 1, 1ull << 63, ~1ull, ~0ull, 0xffffffff80000000, 0xffffffff7fffffff};

class Edges : public testing::Test {
 protected:
  void push(bool constant, uint8_t number) {
    if (constant) {
      code_.push_back(static_cast<uint8_t>(Opcode::op_const64));
      for (int shift = 56; shift >= 0; shift -= 8)
        code_.push_back(static_cast<uint8_t>(interpreted_.saved[number] >> shift));
    } else {
      code_.insert(code_.end(), {static_cast<uint8_t>(Opcode::op_reg), 0, number});
    }
  }

  void compare(const std::string& what) {
    code_.push_back(static_cast<uint8_t>(Opcode::op_end));
    const auto compiled = compile(code_, ax::Purpose::Condition,
                                  {.registers = registers_, .variables = {}});
    ASSERT_TRUE(compiled.ok()) << compiled.error().text();
    WorldHost host{interpreted_};
    const ax::Outcome expected = ax::run(code_, host);
    runner_.load(*compiled);
    const WatchedRun run = runner_.run(interpreted_.context);
    EXPECT_EQ(run.outcome.value, expected.value) << what;
    EXPECT_EQ(run.outcome.status & TRACEWELL_NATIVE_FAULT_MASK,
              static_cast<uint64_t>(expected.fault))
        << what;
    EXPECT_EQ(run.outcome.status >> TRACEWELL_NATIVE_OFFSET_SHIFT, expected.offset) << what;
    EXPECT_EQ(run.changed & ~compiled->clobbers, 0) << what;
    code_.clear();
  }

  std::vector<RegisterPlace> registers_ = World::registers();
  NativeRunner runner_;
  World interpreted_;
  std::vector<uint8_t> code_;
};

TEST_F(Edges, OfTwoOperands) {
  for (const OpcodeInfo* info = ax::opcodes_begin(); info != ax::opcodes_end(); ++info) {
    if (info->group != ax::Group::Arithmetic || info->pops != 2) continue;
    for (const uint64_t a : kEdges) {
      for (const uint64_t b : kEdges) {
        for (const unsigned constants : {0u, 1u, 2u, 3u}) {
          interpreted_.saved[0] = a;
          interpreted_.saved[1] = b;
          push((constants & 1) != 0, 0);
          push((constants & 2) != 0, 1);
          code_.push_back(static_cast<uint8_t>(info->opcode));
          compare(fmt::format("{:#x} {} {:#x}, constants {}", a, info->name, b, constants));
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST_F(Edges, OfOneOperand) {
  for (const OpcodeInfo* info = ax::opcodes_begin(); info != ax::opcodes_end(); ++info) {
    if (info->group != ax::Group::Arithmetic || info->pops != 1) continue;
    for (const uint64_t a : kEdges) {
      for (unsigned operand = 0; operand < (info->operand_bytes > 0 ? 256u : 1u); ++operand) {
        for (const bool constant : {false, true}) {
          interpreted_.saved[0] = a;
          push(constant, 0);
          code_.push_back(static_cast<uint8_t>(info->opcode));
          if (info->operand_bytes > 0) code_.push_back(static_cast<uint8_t>(operand));
          compare(fmt::format("{} {} of {:#x}, constant {}", info->name, operand, a, constant));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tracewell::axjit
