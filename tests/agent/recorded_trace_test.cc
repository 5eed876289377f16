#include "agent/recorded/recorded_trace.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "agent/frame_list.h"
#include "rsp/frames.h"
#include "target/recorded/recorded_target.h"

namespace tracewell::agent {
namespace {

const std::vector<uint8_t> kBytes(200000, 0xab);

FrameBlock memory(uint64_t address, size_t size) {
  FrameBlock block;
  block.kind = FrameBlock::Kind::Memory;
  block.address = address;
  block.bytes = Bytes(kBytes).first(size);
  return block;
}

FrameBlock variable(int32_t number, int64_t value) {
  FrameBlock block;
  block.kind = FrameBlock::Kind::Variable;
  block.number = number;
  block.value = value;
  return block;
}

struct Recorded {
  explicit Recorded(Catalog catalog = {}, std::vector<FrameList::Item> items = {})
      : source(catalog, std::move(items)), target(catalog, {}) {
    trace = *RecordedTrace::create(source, target);
  }
  FrameList source;
  target::RecordedTarget target;
  std::unique_ptr<RecordedTrace> trace;
};

std::vector<FrameList::Item> random_items(std::mt19937& random, size_t count) {
  std::vector<FrameList::Item> items(count);
  for (auto& item : items) {
    item.tracepoint = 1 + static_cast<int32_t>(random() % 5);
    if (random() % 4 != 0) item.pc = 0x1000 + random() % 16;
    for (size_t i = random() % 3; i > 0; --i)
      item.blocks.push_back(random() % 2 ? memory(random(), random() % 50) : variable(2, random()));
  }
  return items;
}

TEST(RecordedTrace, NeedsFrames) {
  struct NoFrames : Source {
    const Catalog& catalog() const override { return catalog_; }
    Result<bool> next(Batch&) override { return false; }
    Catalog catalog_;
  } source;
  target::RecordedTarget target({}, {});
  EXPECT_EQ(RecordedTrace::create(source, target).error().code, Errc::Unsupported);
}

TEST(RecordedTrace, FramesInAnyOrder) {
  std::mt19937 random(1);
  for (size_t run : {1, 3, 100, 1000}) {
    Recorded recorded({}, random_items(random, 300));
    recorded.source.run = run;
    FrameStore& frames = recorded.trace->frames();
    ASSERT_EQ(frames.count(), 300u);
    uint64_t number = 0;
    for (int i = 0; i < 1000; ++i) {
      // Steps in both directions, and jumps, as a debugger's user makes them.
      const int choice = static_cast<int>(random() % 4);
      if (choice == 0) number = random() % 300;
      else if (choice == 1) number = number == 0 ? 0 : number - 1;
      else number = std::min<uint64_t>(number + 1, 299);
      auto frame = frames.frame(number);
      ASSERT_TRUE(frame);
      const auto& item = recorded.source.items[number];
      ASSERT_EQ(frame->tracepoint, item.tracepoint);
      ASSERT_EQ(frame->pc, item.pc);
      ASSERT_EQ(frame->blocks.size(), item.blocks.size());
    }
    EXPECT_EQ(frames.frame(300).error().code, Errc::NotFound);
    EXPECT_EQ(frames.frame(UINT64_MAX).error().code, Errc::NotFound);
  }
}

TEST(RecordedTrace, FindsInEveryForm) {
  using Kind = rsp::FrameSelect::Kind;
  FrameList::Item a{1, 0x1000, {}}, b{2, 0x1008, {}}, c{-5, std::nullopt, {}};
  Recorded recorded({}, {a, b, c, a, b});
  FrameStore& frames = recorded.trace->frames();
  EXPECT_EQ(*frames.find({Kind::None, 0, 0, 0}, 0, {}), std::nullopt);
  EXPECT_EQ(*frames.find({Kind::Number, 4, 0, 0}, 0, {}), 4u);
  EXPECT_EQ(*frames.find({Kind::Number, 5, 0, 0}, 0, {}), std::nullopt);
  EXPECT_EQ(*frames.find({Kind::Pc, 0, 0x1000, 0x1000}, 1, {}), 3u);
  EXPECT_EQ(*frames.find({Kind::Pc, 0, 0x1001, 0x1001}, 0, {}), std::nullopt);
  EXPECT_EQ(*frames.find({Kind::Tracepoint, 2, 0, 0}, 2, {}), 4u);
  EXPECT_EQ(*frames.find({Kind::Tracepoint, 0xfffffffb, 0, 0}, 0, {}), 2u);
  EXPECT_EQ(*frames.find({Kind::Range, 0, 0x1001, 0x1008}, 0, {}), 1u);
  EXPECT_EQ(*frames.find({Kind::Outside, 0, 0x1000, 0x1007}, 2, {}), 4u);
  EXPECT_EQ(*frames.find({Kind::Outside, 0, 0x1000, 0x1008}, 0, {}), std::nullopt);
  EXPECT_EQ(*frames.find({Kind::Outside, 0, 0, 1}, 5, {}), std::nullopt);
}

TEST(RecordedTrace, AFileThatWasCutWhileItRanIsStopped) {
  Catalog catalog;
  RunStatus status;
  status.running = true;
  status.stop = RunStatus::Stop::NotRun;
  status.frames = 17;
  status.notes = "kept";
  catalog.status = status;
  Recorded recorded(catalog, {{1, 0x1000, {}}});
  EXPECT_FALSE(recorded.trace->status().running);
  EXPECT_EQ(recorded.trace->status().stop, RunStatus::Stop::Unknown);
  EXPECT_EQ(recorded.trace->status().frames, 1u);  // those that can be looked at
  EXPECT_EQ(recorded.trace->status().notes, "kept");
}

TEST(RecordedTrace, WithoutAStatus) {
  Recorded recorded({}, {{1, 0x1000, {}}});
  EXPECT_EQ(recorded.trace->status().stop, RunStatus::Stop::Unknown);
  EXPECT_EQ(recorded.trace->status().frames, 1u);
}

TEST(RecordedTrace, UsageOfEachLocation) {
  Catalog catalog;
  TracepointDef one;
  one.number = 3;
  one.address = 0x1000;
  one.usage = TracepointDef::Usage{48, 96};
  TracepointDef other = one;
  other.address = 0x2000;
  other.usage.reset();
  catalog.tracepoints = {one, other};
  Recorded recorded(catalog);
  EXPECT_EQ(recorded.trace->usage(3, 0x1000)->hits, 48u);
  EXPECT_EQ(recorded.trace->usage(3, 0x2000)->hits, 0u);
  EXPECT_FALSE(recorded.trace->usage(3, 0x3000));
  EXPECT_FALSE(recorded.trace->usage(4, 0x1000));
  EXPECT_EQ(recorded.trace->control(), nullptr);
}

std::vector<uint8_t> whole_stream(const FrameList& source) {
  std::vector<uint8_t> out;
  for (const auto& item : source.items)
    (void)rsp::encode_frame(out, item.tracepoint, item.blocks, source.catalog().endian);
  return out;
}

TEST(RecordedTrace, StreamInAnyPieces) {
  std::mt19937 random(2);
  Catalog catalog;
  catalog.endian = Endian::Big;
  Recorded recorded(catalog, random_items(random, 700));
  const std::vector<uint8_t> whole = whole_stream(recorded.source);
  FrameStore& frames = recorded.trace->frames();
  ASSERT_EQ(frames.stream_bytes(), whole.size());
  for (size_t piece : {size_t{1}, size_t{7}, size_t{2000}, whole.size() + 5}) {
    std::vector<uint8_t> joined;
    while (joined.size() < whole.size()) {
      auto part = frames.read_stream(joined.size(), piece);
      ASSERT_TRUE(part);
      ASSERT_EQ(part->size(), std::min(piece, whole.size() - joined.size()));
      joined.insert(joined.end(), part->begin(), part->end());
    }
    ASSERT_EQ(joined, whole);
  }
  for (int i = 0; i < 1000; ++i) {
    const uint64_t offset = random() % (whole.size() + 10);
    const size_t size = random() % 300;
    auto part = frames.read_stream(offset, size);
    ASSERT_TRUE(part);
    const size_t begin = std::min<size_t>(offset, whole.size());
    const size_t end = std::min(begin + size, whole.size());
    ASSERT_EQ(*part, std::vector<uint8_t>(whole.begin() + begin, whole.begin() + end));
    // A frame looked at in between must not disturb it.
    (void)frames.frame(random() % 700);
  }
  EXPECT_TRUE(frames.read_stream(UINT64_MAX, SIZE_MAX)->empty());
}

TEST(RecordedTrace, StreamSplitsLongBlocksAndLeavesOutWhatItCannotHold) {
  Recorded recorded({}, {{1, {}, {memory(0x1000, 150000)}},
                         {0, {}, {memory(0x1000, 1)}},      // 0 would end the stream
                         {70000, {}, {memory(0x1000, 1)}},  // not in 16 bits
                         {2, {}, {variable(1, -1)}}});
  const std::vector<uint8_t> whole = whole_stream(recorded.source);
  EXPECT_EQ(whole.size(), 6 + 3 * 11 + 150000 + 6 + 13u);
  FrameStore& frames = recorded.trace->frames();
  EXPECT_EQ(frames.stream_bytes(), whole.size());
  EXPECT_EQ(*frames.read_stream(0, whole.size()), whole);
}

TEST(RecordedTrace, EmptyTrace) {
  Recorded recorded;
  EXPECT_EQ(recorded.trace->frames().count(), 0u);
  EXPECT_EQ(recorded.trace->frames().stream_bytes(), 0u);
  EXPECT_TRUE(recorded.trace->frames().read_stream(0, 100)->empty());
  EXPECT_FALSE(recorded.trace->frames().frame(0));
}

}  // namespace
}  // namespace tracewell::agent
