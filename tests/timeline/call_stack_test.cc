// The calls that are open at each step, against a walk from the beginning.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "machine/control_flow.h"
#include "timeline/calls/call_stack_at.h"
#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {
namespace {

using machine::Flow;

struct WalkedCall {
  uint64_t first = 0, function = 0, back = 0, call = 0;
};

/// What is open at each step, of the thread that runs it.
struct WalkedStacks {
  std::vector<std::vector<WalkedCall>> stacks;
  std::vector<uint64_t> tids;
  std::vector<Flow> flows;
  std::vector<uint64_t> sessions, losses;  // steps that are the first, or behind one

  WalkedStacks(const Catalog& catalog, std::span<const Event> events) : decoder_(catalog.machine) {
    for (const Event& event : events) {
      if (std::holds_alternative<Mark>(event.body)) {
        threads_.clear();
        sessions.push_back(stacks.size());
      }
      if (std::holds_alternative<Lost>(event.body)) {
        for (auto& [tid, thread] : threads_) thread.flow = Flow::Onward;
        losses.push_back(stacks.size());
      }
      if (const auto* step = std::get_if<Step>(&event.body)) take(event.tid, *step);
    }
  }
  uint64_t session_of(uint64_t step) const {
    uint64_t out = 0;
    for (const uint64_t one : sessions)
      if (one <= step) out = one;
    return out;
  }
  /// The last one behind `from` and not behind `to`.
  std::optional<uint64_t> loss(uint64_t from, uint64_t to) const {
    std::optional<uint64_t> out;
    for (const uint64_t one : losses)
      if (one > from && one <= to && one < stacks.size()) out = one;
    return out;
  }

 private:
  struct Thread {
    std::vector<WalkedCall> open;
    uint64_t last = 0, behind = 0;
    Flow flow = Flow::Onward;
  };
  void take(uint64_t tid, const Step& step) {
    Thread& thread = threads_[tid];
    if (thread.flow == Flow::Call && step.pc != thread.behind)
      thread.open.push_back({stacks.size(), step.pc, thread.behind, thread.last});
    if (thread.flow == Flow::Return) {
      size_t waits = thread.open.size();
      while (waits > 0 && thread.open[waits - 1].back != step.pc) --waits;
      if (waits > 0) thread.open.resize(waits - 1);
    }
    const machine::FlowInstruction flow = decoder_.decode(step.opcode);
    thread.flow = flow.flow;
    thread.behind = step.pc + flow.length;
    thread.last = stacks.size();
    stacks.push_back(thread.open);
    tids.push_back(tid);
    flows.push_back(flow.flow);
  }

  machine::FlowDecoder decoder_;
  std::map<uint64_t, Thread> threads_;
};

struct StackShape {
  uint32_t seed = 0;
  RandomOptions steps;
  uint64_t segment_steps = uint64_t{1} << 22;
};

class CallStacks : public testing::TestWithParam<StackShape> {
 protected:
  CallStacks()
      : trace_(GetParam().seed, GetParam().steps),
        naive_(trace_.catalog, trace_.events()),
        walked_(trace_.catalog, trace_.events()) {
    tracewell::test::ListSource source(trace_.catalog, trace_.events());
    store_ = *StepStore::read(source);
    TimelineOptions options;
    options.build.segment_steps = GetParam().segment_steps;
    timeline_ = std::make_unique<Timeline>(*Timeline::open(*store_, trace_.catalog, {}, options));
  }

  CallStackAt ask(uint64_t at, const CallStackOptions& options) {
    auto got = call_stack_at(*store_, *timeline_, at, options);
    EXPECT_TRUE(got.ok());
    return got.ok() ? *std::move(got) : CallStackAt();
  }
  /// `place`: the step at which the walk had these calls.
  void compare(const CallStackAt& got, uint64_t at, uint64_t place, size_t most) {
    const std::vector<WalkedCall>& all = walked_.stacks[place];
    ASSERT_EQ(got.depth, all.size());
    ASSERT_EQ(got.frames.size(), std::min(most, all.size()));
    uint64_t until = at;
    for (size_t i = 0; i < got.frames.size(); ++i) {
      const StackFrame& frame = got.frames[i];
      const WalkedCall& call = all[all.size() - 1 - i];
      EXPECT_EQ(frame.depth, all.size() - 1 - i);
      EXPECT_EQ(frame.first, call.first);
      EXPECT_EQ(frame.function, call.function);
      EXPECT_EQ(frame.back, call.back);
      EXPECT_EQ(frame.call, call.call);
      EXPECT_EQ(frame.call_pc, naive_.pcs_[call.call]);
      EXPECT_EQ(frame.sp, stack_pointer(call.call));
      EXPECT_EQ(frame.lost, walked_.loss(call.first, until));
      until = call.first;
    }
    ASSERT_TRUE(got.begin);
    if (got.frames.size() == all.size()) {
      EXPECT_EQ(got.lost, walked_.loss(*got.begin, until));
    }
  }
  std::optional<uint64_t> stack_pointer(uint64_t step) const {
    const uint32_t index = *trace_.catalog.registers.sp_index;
    const Register& sp = trace_.catalog.registers.registers[index];
    const RegisterState& state = naive_.before_[step];
    if (!state.is_valid(index)) return std::nullopt;
    return load_uint(state.block.data() + sp.offset, sp.size_bytes, Endian::Little);
  }

  RandomSteps trace_;
  Naive naive_;
  WalkedStacks walked_;
  std::unique_ptr<StepStore> store_;
  std::unique_ptr<Timeline> timeline_;
};

TEST_P(CallStacks, OfEachStep) {
  size_t deepest = 0;
  for (uint64_t at = 0; at < walked_.stacks.size(); ++at) {
    SCOPED_TRACE(at);
    const size_t most = at % 3 == 0 ? 3 : 1000;
    const CallStackAt got = ask(at, {.tid = {}, .most = most});
    EXPECT_EQ(got.tid, walked_.tids[at]);
    EXPECT_FALSE(got.in_flight);
    compare(got, at, at, most);
    if (HasFatalFailure()) return;
    deepest = std::max(deepest, walked_.stacks[at].size());
  }
  EXPECT_GT(deepest, 5u);
}

// Who does not run the step is where the next one finds it; behind the last one, there.
TEST_P(CallStacks, OfOtherThreads) {
  const std::set<uint64_t> tids(walked_.tids.begin(), walked_.tids.end());
  const uint64_t count = walked_.stacks.size();
  size_t in_flight = 0, waiting = 0;
  for (uint64_t at = 0; at <= count; at += at + 9 < count ? 9 : 1) {
    for (const uint64_t tid : tids) {
      SCOPED_TRACE(testing::Message() << "thread " << tid << " at " << at);
      const uint64_t session = walked_.session_of(std::min(at, count - 1));
      constexpr uint64_t kNone = UINT64_MAX;
      uint64_t last = kNone, next = kNone;
      for (uint64_t i = session; i < at; ++i)
        if (walked_.tids[i] == tid) last = i;
      for (uint64_t i = at; i < count && walked_.session_of(i) == session && next == kNone; ++i)
        if (walked_.tids[i] == tid) next = i;
      if (next != kNone && next != at && walked_.loss(at, next)) next = kNone;
      const CallStackAt got = ask(at, {.tid = tid, .most = 1000});
      EXPECT_EQ(got.tid, tid);
      if (last == kNone && next != at) {
        EXPECT_EQ(got.depth, 0u);
        EXPECT_FALSE(got.begin);
        continue;
      }
      const Flow flow = last != kNone ? walked_.flows[last] : Flow::Onward;
      EXPECT_EQ(got.in_flight, next == kNone && (flow == Flow::Call || flow == Flow::Return));
      in_flight += got.in_flight;
      waiting += next != kNone && next != at;
      compare(got, at, next != kNone ? next : last, 1000);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(in_flight, 0u);
  EXPECT_TRUE(tids.size() == 1 || waiting > 20);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CallStacks,
    testing::Values(
        // Many chunks of one segment; all in memory at once.
        StackShape{1, {.steps = 9000}},
        StackShape{2, {.steps = 4000, .threads = 3}, 400},
        StackShape{3, {.steps = 3000, .threads = 2, .is_64 = false, .sessions_per_mille = 3}, 170},
        // Threads that are in few of the segments, with losses in between.
        StackShape{4, {.steps = 4000, .threads = 9, .losses_per_mille = 15}, 23},
        StackShape{5, {.steps = 4000, .threads = 2, .sessions_per_mille = 2, .losses_per_mille = 5},
                   90}),
    [](const auto& info) { return "Seed" + std::to_string(info.param.seed); });

/// Functions that call the next one, and then return; all in one chunk after the other.
class Deep : public testing::Test {
 protected:
  static constexpr uint64_t kDepth = 3000;
  static constexpr uint8_t kCall[5] = {0xe8}, kReturn[1] = {0xc3}, kNop[1] = {0x90};

  void add(uint64_t pc, Bytes opcode) {
    Event& event = batch_.add();
    event.seq = count_++;
    event.tid = 7;
    Step step;
    step.pc = pc;
    step.opcode = opcode;
    event.body = step;
  }
  void open(uint64_t segment_steps) {
    catalog_.machine = "x86-64";
    tracewell::test::ListSource source(catalog_, batch_.events());
    store_ = *StepStore::read(source);
    TimelineOptions options;
    options.build.segment_steps = segment_steps;
    timeline_ = std::make_unique<Timeline>(*Timeline::open(*store_, catalog_, {}, options));
  }
  OpenCalls at(uint64_t step, size_t most) { return timeline_->open_calls(step, 7, most); }

  Catalog catalog_;
  Batch batch_;
  uint64_t count_ = 0;
  std::unique_ptr<StepStore> store_;
  std::unique_ptr<Timeline> timeline_;
};

TEST_F(Deep, AllTheWayDownAndOut) {
  for (uint64_t i = 0; i < kDepth; ++i) add(0x1000 + 16 * i, kCall);
  for (uint64_t i = kDepth; i > 0; --i) add(0x1000 + 16 * i + (i == kDepth ? 0 : 5), kReturn);
  add(0x1005, kNop);
  for (const uint64_t segment_steps : {uint64_t{700}, uint64_t{1} << 20}) {
    open(segment_steps);
    for (const uint64_t step : {uint64_t{1}, uint64_t{256}, uint64_t{257}, kDepth - 1, kDepth,
                                kDepth + 1, kDepth + 1000, 2 * kDepth - 1, 2 * kDepth}) {
      SCOPED_TRACE(step);
      const uint64_t depth = step <= kDepth ? step : 2 * kDepth - step;
      const OpenCalls all = at(step, SIZE_MAX), few = at(step, 5);
      EXPECT_EQ(all.depth, depth);
      EXPECT_EQ(few.depth, depth);
      ASSERT_EQ(all.calls.size(), depth);
      ASSERT_EQ(few.calls.size(), std::min<uint64_t>(depth, 5));
      for (uint64_t i = 0; i < depth; ++i) {
        EXPECT_EQ(all.calls[i].first, depth - i);
        EXPECT_EQ(all.calls[i].function, 0x1000 + 16 * (depth - i));
        EXPECT_EQ(all.calls[i].back, 0x1005 + 16 * (depth - i - 1));
        if (i < few.calls.size()) {
          EXPECT_EQ(few.calls[i].first, all.calls[i].first);
        }
      }
    }
  }
}

// A long jump out of all of it but the first, and returns that nobody waits for, far from calls.
TEST_F(Deep, OutOfManyAtOnce) {
  for (uint64_t i = 0; i < kDepth; ++i) add(0x1000 + 16 * i, kCall);
  for (int i = 0; i < 600; ++i) add(0x100, kReturn);
  add(0x1015, kReturn);  // behind the second call
  add(0x1005, kNop);
  open(uint64_t{1} << 20);
  EXPECT_EQ(at(kDepth, 1).depth, kDepth);
  EXPECT_EQ(at(kDepth + 599, 1).depth, kDepth);
  const OpenCalls first = at(kDepth + 600, 10);
  EXPECT_EQ(first.depth, 1u);
  ASSERT_EQ(first.calls.size(), 1u);
  EXPECT_EQ(first.calls[0].first, 1u);
  EXPECT_EQ(at(kDepth + 601, 10).depth, 0u);
}

TEST_F(Deep, NobodyWantsAnAnswer) {
  for (uint64_t i = 0; i < 10; ++i) add(0x1000 + 16 * i, kCall);
  open(100);
  bool stop = true;
  CallStackOptions options;
  options.work.stop = [&] { return stop; };
  EXPECT_FALSE(call_stack_at(*store_, *timeline_, 9, options).ok());
  stop = false;
  EXPECT_TRUE(call_stack_at(*store_, *timeline_, 9, options).ok());
  EXPECT_EQ(call_stack_at(*store_, *timeline_, 11, options).error().code, Errc::InvalidArgument);
}

}  // namespace
}  // namespace tracewell::timeline::test
