// Call trees, basic blocks and hits, against a walk over all steps.
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "machine/control_flow.h"
#include "timeline/calls/call_tree.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

using machine::Flow;
using machine::FlowInstruction;

/// What a walk over all steps sees.
struct Walked {
  std::vector<Call> calls;
  std::map<uint64_t, uint64_t> hits, last;
  std::map<uint64_t, FlowInstruction> flows;
  std::set<uint64_t> entered;

  Walked(const Catalog& catalog, std::span<const Event> events) : decoder_(catalog.machine) {
    uint64_t steps = 0;
    for (const Event& event : events) {
      if (std::holds_alternative<Mark>(event.body)) end_session();
      if (std::holds_alternative<Lost>(event.body))
        for (auto& [tid, thread] : threads_) thread.lost = true;
      if (const auto* step = std::get_if<Step>(&event.body)) {
        take(event.tid, *step, steps++);
      }
    }
    end_session();
  }

 private:
  struct Thread {
    uint64_t last = 0;    // step
    uint64_t behind = 0;  // the last instruction
    FlowInstruction flow = {0, Flow::Onward};
    bool lost = false;  // something, since then
    std::vector<size_t> stack;
  };
  std::map<uint64_t, Thread> threads_;
  machine::FlowDecoder decoder_;

  void end_session() {
    for (const auto& [tid, thread] : threads_)
      for (size_t call : thread.stack) calls[call].end = thread.last + 1;
    threads_.clear();
  }
  void take(uint64_t tid, const Step& step, uint64_t seq) {
    const bool is_new = !threads_.contains(tid);
    Thread& thread = threads_[tid];
    thread.last = seq;
    const bool fell = !is_new && thread.flow.flow == Flow::Onward && thread.behind == step.pc;
    if (!fell) entered.insert(step.pc);
    const bool follows = !is_new && !std::exchange(thread.lost, false);
    if (follows && thread.flow.flow == Flow::Call && step.pc != thread.behind) {
      Call call;
      call.tid = tid;
      call.function = step.pc;
      call.back = thread.behind;
      call.first = seq;
      call.depth = static_cast<uint32_t>(thread.stack.size());
      if (!thread.stack.empty()) call.parent = thread.stack.back();
      thread.stack.push_back(calls.size());
      calls.push_back(call);
    }
    if (follows && thread.flow.flow == Flow::Return) come_back(thread, step.pc, seq);
    thread.flow = decoder_.decode(step.opcode);
    if (thread.flow.flow == Flow::Unknown)
      thread.flow = {static_cast<uint8_t>(step.opcode.size()), Flow::Onward};
    thread.behind = step.pc + thread.flow.length;
    flows[step.pc] = thread.flow;
    ++hits[step.pc];
    last[step.pc] = seq;
  }
  void come_back(Thread& thread, uint64_t to, uint64_t seq) {
    bool any = false;
    for (size_t call : thread.stack) any |= calls[call].back == to;
    while (any) {
      Call& call = calls[thread.stack.back()];
      thread.stack.pop_back();
      call.end = seq;
      call.returned = call.back == to;
      if (call.returned) return;
    }
  }
};

auto fields(const Call& call) {
  return std::tuple(call.tid, call.function, call.back, call.first, call.end, call.depth,
                    call.parent, call.returned);
}

constexpr uint32_t kRare = 6;  // threads are in few of the segments, with losses in the others

class Flows : public testing::TestWithParam<uint32_t> {
 protected:
  Flows()
      : trace_(GetParam(),
               {.steps = 3000, .threads = GetParam() == kRare ? 12 : 1 + GetParam() % 5,
                .is_64 = GetParam() != 2, .sessions_per_mille = GetParam() == 3 ? 2u : 0,
                .losses_per_mille = GetParam() == 4 || GetParam() == kRare ? 20u : 0}),
        walked_(trace_.catalog, trace_.events()) {
    tracewell::test::ListSource source(trace_.catalog, trace_.events());
    const auto store = *StepStore::read(source);
    TimelineOptions options;
    if (GetParam() != 0)
      options.build.segment_steps = GetParam() == kRare ? 20 : 70 * GetParam();
    timeline_ = std::make_unique<Timeline>(
        *Timeline::open(*store, trace_.catalog, {}, options));
  }
  RandomSteps trace_;
  Walked walked_;
  std::unique_ptr<Timeline> timeline_;
};

TEST_P(Flows, CallTree) {
  const std::vector<Call> calls = call_tree(*timeline_);
  ASSERT_EQ(calls.size(), walked_.calls.size());
  EXPECT_GT(calls.size(), 100u);
  size_t returned = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(fields(calls[i]), fields(walked_.calls[i])) << i;
    returned += calls[i].returned;
  }
  EXPECT_GT(returned, 50u);
}

TEST_P(Flows, AddressHits) {
  std::map<uint64_t, uint64_t> got;
  for (const Timeline::Hits& one : timeline_->address_hits()) {
    got[one.address] = one.count;
    EXPECT_EQ(one.last, walked_.last.at(one.address));
  }
  EXPECT_EQ(got, walked_.hits);
}

// Blocks cover each executed instruction once; one that is entered begins one; all of a block's
// instructions but the last go on to the next.
TEST_P(Flows, BlockHits) {
  const auto blocks = timeline_->block_hits();
  std::set<uint64_t> starts, covered;
  for (const auto& block : blocks) {
    starts.insert(block.address);
    EXPECT_EQ(block.count, walked_.hits.at(block.address));
    EXPECT_EQ(block.last, walked_.last.at(block.address));
    uint64_t at = block.address;
    for (uint64_t i = 0; i < block.instructions; ++i) {
      ASSERT_TRUE(walked_.flows.contains(at)) << std::hex << at;
      EXPECT_TRUE(covered.insert(at).second);
      EXPECT_TRUE(i == 0 || !walked_.entered.contains(at)) << std::hex << at;
      const FlowInstruction& flow = walked_.flows.at(at);
      EXPECT_TRUE(i + 1 == block.instructions || flow.flow == Flow::Onward);
      at += flow.length;
    }
    EXPECT_EQ(at, block.address + block.size_bytes);
  }
  EXPECT_EQ(covered.size(), walked_.hits.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Flows, testing::Values(0, 1, 2, 3, 4, 5, kRare));

}  // namespace
}  // namespace tracewell::timeline::test
