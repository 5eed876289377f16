#include "filter/step_frames.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "little_memory.h"

namespace tracewell::filter {
namespace {

/// Two registers of two bytes, and the events of a test. `unused_bytes`: of another register, which
/// nobody tells.
class Events final : public Source {
 public:
  explicit Events(uint32_t unused_bytes = 0) {
    catalog_.registers.registers = {{"a", 0, 0, 2, "int16"}, {"b", 1, 2, 2, "int16"}};
    catalog_.registers.size_bytes = 4;
    if (unused_bytes != 0) {
      catalog_.registers.registers.push_back({"wide", 2, 4, unused_bytes, "wide"});
      catalog_.registers.size_bytes += unused_bytes;
    }
    catalog_.extras = {{"other.key", "value"}};
  }
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    if (at_ == events_.size()) return false;
    batch.add() = events_[at_++];  // one at a time: state must last from batch to batch
    return true;
  }
  void step(uint64_t tid, uint64_t pc, std::vector<std::pair<uint32_t, Bytes>> before,
            std::vector<std::pair<uint32_t, Bytes>> after) {
    Step one;
    one.pc = pc;
    one.opcode = kOpcode;
    one.before = changes(before);
    one.registers = changes(after);
    Event event;
    event.tid = tid;
    event.time_ns = 70;
    event.body = one;
    events_.push_back(event);
  }
  void mark(std::string_view text, bool session) {
    Event event;
    event.body = Mark{.text = text, .session = session};
    events_.push_back(event);
  }
  void access(std::vector<Step::MemoryAccess> accesses) {
    accesses_.push_back(std::move(accesses));
    std::get<Step>(events_.back().body).memory = accesses_.back();
  }

  static constexpr uint8_t kOne[] = {1, 0}, kTwo[] = {2, 0}, kThree[] = {3, 0}, kOpcode[] = {0x90};

 private:
  std::span<const Step::RegisterChange> changes(
      const std::vector<std::pair<uint32_t, Bytes>>& values) {
    std::vector<Step::RegisterChange>& out = *changes_.emplace_back(
        std::make_unique<std::vector<Step::RegisterChange>>());
    for (const auto& [index, value] : values) out.push_back({index, value});
    return out;
  }
  Catalog catalog_;
  std::vector<Event> events_;
  std::vector<std::unique_ptr<std::vector<Step::RegisterChange>>> changes_;
  std::vector<std::vector<Step::MemoryAccess>> accesses_;
  size_t at_ = 0;
};

/// "tracepoint@pc tid block mask", one a frame; "mark TEXT".
std::vector<std::string> told(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      if (const auto* mark = std::get_if<Mark>(&event.body)) {
        out.push_back("mark " + std::string(mark->text));
        continue;
      }
      const Frame& frame = std::get<Frame>(event.body);
      std::string line = std::to_string(frame.tracepoint) + "@" + std::to_string(*frame.pc) + " " +
                         std::to_string(event.tid) + " ";
      for (const uint8_t byte : frame.blocks[0].bytes) line += std::to_string(byte);
      out.push_back(line + " " + std::to_string(frame.registers_valid[0]));
      EXPECT_EQ(event.time_ns, 70);
      EXPECT_EQ(event.seq + 1, std::ranges::count_if(out, [](const std::string& text) {
                  return !text.starts_with("mark");
                }));
      EXPECT_EQ(frame.blocks[1].address, *frame.pc);
      EXPECT_EQ(frame.blocks[1].bytes.size(), 1u);
    }
  }
  return out;
}

std::unique_ptr<Events> two_threads() {
  auto events = std::make_unique<Events>();
  events->mark("begin", true);
  events->step(5, 10, {{0, Events::kOne}}, {{0, Events::kTwo}});
  events->step(6, 10, {{1, Events::kThree}}, {});
  events->mark("a note", false);
  events->step(5, 11, {{1, Events::kOne}}, {{0, {}}});
  events->step(5, 10, {}, {});
  events->mark("again", true);
  events->step(5, 10, {{1, Events::kTwo}}, {});
  return events;
}

TEST(StepFrames, RegistersOfEachThreadBeforeEachStep) {
  auto frames = frames_of_steps(two_threads(), {});
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(told(**frames),
            (std::vector<std::string>{"1@10 5 1000 1", "1@10 6 0030 2", "mark a note",
                                      "1@11 5 2010 3", "1@10 5 0010 2", "1@10 5 0020 2"}));
  const Catalog& catalog = (*frames)->catalog();
  ASSERT_EQ(catalog.tracepoints.size(), 1u);
  EXPECT_EQ(catalog.tracepoints[0].address, 10u);
  EXPECT_TRUE(catalog.extras.empty());
}

TEST(StepFrames, AtAddresses) {
  auto frames = frames_of_steps(two_threads(), {11, 99, 10});
  ASSERT_TRUE(frames.ok());
  const std::vector<TracepointDef>& defined = (*frames)->catalog().tracepoints;
  ASSERT_EQ(defined.size(), 3u);
  EXPECT_EQ(defined[0].number, 3u);  // which GDB will call its third
  EXPECT_EQ(defined[0].address, 10u);
  EXPECT_EQ(defined[0].sources.at(0).text, "*0xa");
  EXPECT_EQ(defined[2].number, 1u);
  const std::vector<std::string> all = told(**frames);
  EXPECT_EQ(all.at(0), "3@10 5 1000 1");
  EXPECT_EQ(all.at(3), "1@11 5 2010 3");
  EXPECT_EQ(all.size(), 6u);
}

TEST(StepFrames, MemoryAsItWas) {
  auto events = std::make_unique<Events>();
  events->step(1, 10, {}, {});
  events->access({{.address = 0x50, .size = 2, .old_bytes = Events::kTwo, .new_bytes = {}},
                  {.address = 0x60, .size = 2, .old_bytes = {}, .new_bytes = Events::kTwo}});
  auto frames = frames_of_steps(std::move(events), {});
  ASSERT_TRUE(frames.ok());
  Batch batch;
  ASSERT_TRUE(*(*frames)->next(batch));
  const Frame& frame = std::get<Frame>(batch.events()[0].body);
  ASSERT_EQ(frame.blocks.size(), 3u);  // not what nobody knew
  EXPECT_EQ(frame.blocks[2].address, 0x50u);
  EXPECT_EQ(frame.blocks[2].bytes[0], 2);
}

TEST(StepFrames, WhatHasNoStepsStaysAsItIs) {
  auto events = std::make_unique<Events>();
  events->mark("only this", true);
  auto same = frames_of_steps(std::move(events), {1});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(told(**same), std::vector<std::string>{"mark only this"});
  EXPECT_TRUE((*same)->catalog().tracepoints.empty());
}

/// Hands out its 1000 steps at once.
class ManySteps final : public Source {
 public:
  ManySteps() {
    catalog_.registers.registers = {{"a", 0, 0, 131072, "wide"}};
    catalog_.registers.size_bytes = 131072;
  }
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    if (done_) return false;
    for (int i = 0; i < 1000; ++i) batch.add().body = Step{};
    return done_ = true;
  }

 private:
  Catalog catalog_;
  bool done_ = false;
};

TEST(StepFrames, ABatchHasFewLargeFrames) {
  EXPECT_IN_MEMORY(32 << 20, {  // of 131 MB
    auto frames = frames_of_steps(std::make_unique<ManySteps>(), {});
    ASSERT_TRUE(frames.ok());
    size_t count = 0;
    Batch batch;
    while (*(*frames)->next(batch))
      for (const Event& event : batch.events()) EXPECT_EQ(event.seq, count++);
    EXPECT_EQ(count, 1000u);
  });
}

TEST(StepFrames, RegistersOfTooManyThreadsAreNotKnownRatherThanWrong) {
  constexpr uint64_t kThreads = 100'000;
  auto events = std::make_unique<Events>(4096);
  for (uint64_t tid = 1; tid <= kThreads; ++tid)
    events->step(tid, 10, {{0, Events::kOne}}, {{1, Events::kTwo}});
  events->step(kThreads, 10, {}, {});
  events->step(1, 10, {{0, Events::kThree}}, {});
  uint64_t forgotten = 0;
  auto frames = frames_of_steps(std::move(events), {}, [&] { ++forgotten; });
  std::vector<uint8_t> known;
  Batch batch;
  while (*(*frames)->next(batch))
    for (const Event& event : batch.events())
      known.push_back(std::get<Frame>(event.body).registers_valid[0]);
  ASSERT_EQ(known.size(), kThreads + 2);
  EXPECT_EQ(known[0], 1);
  EXPECT_EQ(known[kThreads], 3);      // its step was the last one
  EXPECT_EQ(known[kThreads + 1], 1);  // what it once had in b is forgotten
  EXPECT_EQ(forgotten, 3u);
}

}  // namespace
}  // namespace tracewell::filter
