// Random calls and returns against a stack of their own; and the bounds.
#include <time.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/steps/call_tree.h"

namespace tracewell::formats::test {
namespace {

constexpr uint8_t kCall[] = {0xe8, 0, 0, 0, 0}, kReturn[] = {0xc3}, kNop[] = {0x90};

void run(CallTree& tree, uint64_t tid, uint64_t pc, Bytes opcode) {
  Step step;
  step.pc = pc;
  step.opcode = opcode;
  tree.step(tid, step);
}

std::map<std::string, uint64_t> stacks_of(const CallTree& tree) {
  std::map<std::string, uint64_t> out;
  const auto& nodes = tree.nodes();
  std::vector<std::string> names;
  for (const CallTree::Node& node : nodes) {
    const bool root = node.parent == CallTree::kNoParent;
    names.push_back((root ? "" : names[node.parent] + ";") + std::to_string(node.address));
    if (node.steps != 0) out[names.back()] += node.steps;
  }
  return out;
}

TEST(CallTree, RandomPrograms) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    CallTree tree("x86-64");
    struct Thread {
      std::vector<uint64_t> functions = {100000};
      std::vector<uint64_t> returns = {0};
      uint64_t pc = 100000;
    };
    std::map<uint64_t, Thread> threads;
    std::map<std::string, uint64_t> expected;
    for (int i = 0; i < 5000; ++i) {
      const uint64_t tid = 1 + random() % 3;
      Thread& thread = threads[tid];
      std::string name = std::to_string(tid);
      for (const uint64_t function : thread.functions) name += ";" + std::to_string(function);
      ++expected[name];
      const uint64_t what = random() % 5;
      if (what == 0 && thread.functions.size() < 30) {
        run(tree, tid, thread.pc, kCall);
        thread.returns.push_back(thread.pc + 5);
        thread.pc = 1000 * (1 + random() % 4);
        thread.functions.push_back(thread.pc);
      } else if (what == 1 && thread.functions.size() > 1) {
        run(tree, tid, thread.pc, kReturn);
        thread.pc = thread.returns.back();
        thread.returns.pop_back();
        thread.functions.pop_back();
      } else {
        run(tree, tid, thread.pc, kNop);
        ++thread.pc;
      }
    }
    EXPECT_EQ(stacks_of(tree), expected);
    EXPECT_EQ(tree.cut(), 0u);
    EXPECT_EQ(tree.undecoded(), 0u);
  }
}

TEST(CallTree, SteppedOverAndBehindGaps) {
  CallTree tree("x86-64");
  run(tree, 1, 50, kCall);
  run(tree, 1, 55, kCall);
  tree.gap();
  run(tree, 1, 100, kReturn);
  run(tree, 1, 60, kNop);
  EXPECT_EQ(stacks_of(tree), (std::map<std::string, uint64_t>{{"1;50", 3}, {"1;60", 1}}));
}

/// What the threads of a trace make of each event would be hours for some megabytes.
TEST(CallTree, AGapOfManyThreadsIsOne) {
  constexpr uint64_t kThreads = 50'000, kGaps = 400'000;
  CallTree tree("x86-64");
  for (uint64_t tid = 1; tid <= kThreads; ++tid) run(tree, tid, 50, kCall);
  std::timespec before = {}, after = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  for (uint64_t i = 0; i < kGaps; ++i) tree.gap();
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  EXPECT_LT(after.tv_sec - before.tv_sec, 5);
  for (uint64_t tid = 1; tid <= kThreads; ++tid) run(tree, tid, 60, kNop);
  EXPECT_EQ(tree.nodes().size(), 2 * kThreads) << "behind a gap nothing was called";
}

TEST(CallTree, DeepRecursionIsCutAndComesBack) {
  CallTree tree("i386");
  constexpr uint64_t kDepth = 2 * CallTree::kDepthMax;
  run(tree, 1, 50, kCall);
  for (uint64_t i = 1; i < kDepth; ++i) run(tree, 1, 100, kCall);
  run(tree, 1, 100, kNop);
  for (uint64_t i = 1; i < kDepth; ++i) run(tree, 1, i == 1 ? 101 : 105, kReturn);
  run(tree, 1, 105, kReturn);
  run(tree, 1, 55, kNop);
  EXPECT_EQ(tree.nodes().size(), CallTree::kDepthMax + 1);
  EXPECT_EQ(tree.cut(), kDepth - (CallTree::kDepthMax - 1));
  EXPECT_EQ(stacks_of(tree)["1;50"], 2u);
}

TEST(CallTree, StacksAreNotWithoutNumber) {
  CallTree tree("x86-64");
  run(tree, 1, 50, kCall);
  for (uint64_t i = 0; i < CallTree::kNodesMax + 10; ++i) {
    run(tree, 1, 1000 + i, kReturn);
    run(tree, 1, 55, kNop);
    run(tree, 1, 50, kCall);
  }
  EXPECT_EQ(tree.nodes().size(), CallTree::kNodesMax);
  EXPECT_EQ(tree.cut(), 12u);
}

TEST(CallTree, OtherMachinesHaveNoCalls) {
  CallTree tree("aarch64");
  run(tree, 1, 50, kCall);
  run(tree, 1, 100, kNop);
  EXPECT_EQ(tree.undecoded(), 2u);
  EXPECT_EQ(stacks_of(tree)["1;50"], 2u);
}

}  // namespace
}  // namespace tracewell::formats::test
