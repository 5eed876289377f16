// The trace buffer against a naive one: a list of frames, dropped from the front when there are too
// many bytes.
#include "agent/buffer/trace_buffer.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "agent/buffer/trace_source.h"
#include "rsp/frames.h"
#include "scratch.h"

namespace tracewell::agent {
namespace {

using Kind = rsp::FrameSelect::Kind;

std::vector<uint8_t> memory_block(uint64_t address, Bytes bytes) {
  std::vector<uint8_t> out;
  EXPECT_TRUE(rsp::encode_block(
      out, {.kind = FrameBlock::Kind::Memory, .address = address, .bytes = bytes}, Endian::Little));
  return out;
}

/// Data of `size` bytes (0, or 11 and more) that parse as one block.
std::vector<uint8_t> some_data(size_t size, uint8_t fill) {
  if (size == 0) return {};
  return memory_block(0x1000, std::vector<uint8_t>(size - 11, fill));
}

FrameRecord record(int16_t tracepoint, uint64_t pc) {
  FrameRecord record;
  record.tracepoint = tracepoint;
  record.pc = pc;
  return record;
}

/// A frame has its head, its blocks (of registers not all), and what makes it a multiple of 4.
uint64_t kept_bytes(size_t blocks, bool is_step = false) {
  return (24 + (is_step ? 8 : 0) + blocks + 3) / 4 * 4;
}

struct NaiveFrame {
  FrameRecord record;
  std::vector<uint8_t> data;
  uint64_t kept() const { return kept_bytes(data.size(), record.is_step); }
};

class NaiveBuffer {
 public:
  bool append(uint64_t capacity, bool circular, NaiveFrame frame) {
    const uint64_t size = frame.kept();
    if (size > capacity || (!circular && used() + size > capacity)) return false;
    while (used() + size > capacity) frames.pop_front();
    frames.push_back(std::move(frame));
    return true;
  }
  uint64_t used() const {
    uint64_t sum = 0;
    for (const NaiveFrame& frame : frames) sum += frame.kept();
    return sum;
  }
  std::vector<uint8_t> stream() const {
    std::vector<uint8_t> out;
    for (const NaiveFrame& frame : frames) {
      ByteWriter writer(out, Endian::Little);
      writer.uint(static_cast<uint16_t>(frame.record.tracepoint), 2);
      writer.uint(frame.data.size(), 4);
      writer.bytes(frame.data);
    }
    return out;
  }
  std::deque<NaiveFrame> frames;
};

std::vector<uint8_t> read_all(TraceBuffer& buffer, size_t chunk) {
  std::vector<uint8_t> out;
  while (out.size() < buffer.stream_bytes()) {
    auto piece = buffer.read_stream(out.size(), chunk);
    EXPECT_TRUE(piece.ok());
    EXPECT_FALSE(piece->empty());
    out.insert(out.end(), piece->begin(), piece->end());
  }
  return out;
}

void compare(TraceBuffer& buffer, const NaiveBuffer& naive, uint64_t capacity) {
  ASSERT_EQ(buffer.count(), naive.frames.size());
  ASSERT_EQ(buffer.free_bytes(), capacity - naive.used());
  const auto stream = naive.stream();
  for (size_t chunk : {1u, 7u, 2000u, 65536u}) ASSERT_EQ(read_all(buffer, chunk), stream) << chunk;
  for (size_t i = 0; i < naive.frames.size(); ++i) {
    const NaiveFrame& expected = naive.frames[i];
    auto frame = buffer.frame(i);
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(frame->tracepoint, expected.record.tracepoint);
    EXPECT_EQ(frame->pc, expected.record.pc);
    EXPECT_EQ(buffer.record(i).time_ns, expected.record.time_ns);
    EXPECT_EQ(buffer.record(i).tid, expected.record.tid);
    ASSERT_EQ(frame->blocks.size(), expected.data.empty() ? 0 : 1);
    if (!expected.data.empty()) {
      EXPECT_TRUE(std::ranges::equal(frame->blocks[0].bytes, Bytes(expected.data).subspan(11)));
    }
  }
}

void agree(bool in_file) {
  std::mt19937 random(20130117);
  for (uint64_t capacity : {0u, 5u, 24u, 40u, 100u, 257u, 1000u, 8000u}) {
    TraceBuffer buffer;
    NaiveBuffer naive;
    ASSERT_TRUE(buffer.resize(in_file ? 7 : capacity).ok());
    if (in_file) {
      auto file = BufferFile::create(test::scratch_path());
      ASSERT_TRUE(file.ok()) << file.error().text();
      ASSERT_TRUE(buffer.move_into(*std::move(file)).ok());
      ASSERT_TRUE(buffer.resize(capacity).ok());
    }
    bool circular = false;
    uint64_t created = 0;
    for (int step = 0; step < 300; ++step) {
      if (random() % 40 == 0) buffer.set_circular(circular = !circular);
      if (random() % 100 == 0) {
        buffer.clear();
        naive.frames.clear();
        created = 0;
      }
      const size_t size = random() % 8 == 0 ? 0 : 11 + random() % (random() % 16 ? 40 : 300);
      const auto data = some_data(size, static_cast<uint8_t>(random()));
      auto about = record(static_cast<int16_t>(1 + random() % 3), 0x1000 + random() % 8);
      about.is_step = random() % 5 == 0;
      about.tid = static_cast<int32_t>(random() % 100);
      about.time_ns = static_cast<int64_t>(random());
      const bool fits = naive.append(capacity, circular, {about, data});
      ASSERT_EQ(buffer.append(about, data), fits);
      created += fits;
      ASSERT_EQ(buffer.created(), created);
      compare(buffer, naive, capacity);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TraceBuffer, AgreesWithANaiveOne) { agree(false); }
TEST(TraceBuffer, InAFileAgreesWithANaiveOne) { agree(true); }

TEST(TraceBuffer, LinearKeepsWholeFramesOnly) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(136).ok());
  const auto data = some_data(40, 1);
  EXPECT_TRUE(buffer.append(record(1, 0x10), data));
  EXPECT_EQ(buffer.appended_bytes(), 64u);
  EXPECT_TRUE(buffer.append(record(1, 0x10), data));
  EXPECT_FALSE(buffer.append(record(1, 0x10), data));
  EXPECT_EQ(buffer.count(), 2u);
  EXPECT_EQ(buffer.free_bytes(), 8u);
  EXPECT_EQ(buffer.created(), 2u);
}

TEST(TraceBuffer, FrameLargerThanACircularBufferLeavesTheOthersAlone) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(70).ok());
  buffer.set_circular(true);
  EXPECT_TRUE(buffer.append(record(1, 0x10), some_data(40, 1)));
  EXPECT_FALSE(buffer.append(record(1, 0x10), some_data(55, 1)));
  EXPECT_EQ(buffer.count(), 1u);
}

TEST(TraceBuffer, ALongSearchAsksWhetherToGoOn) {
  constexpr uint64_t kBytes = 1 << 20;
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(kBytes).ok());
  while (buffer.append(record(1, 0x10), some_data(1000, 1))) {
  }
  const rsp::FrameSelect nowhere{rsp::FrameSelect::Kind::Pc, 0, 0x20, 0x20};
  uint64_t asked = 0, told = 0;
  const auto found = buffer.find(nowhere, 0, [&](uint64_t bytes) -> Status {
    ++asked;
    told += bytes;
    return {};
  });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, std::nullopt);
  EXPECT_GE(asked, 14u);
  EXPECT_LE(told, kBytes);
  const auto left = buffer.find(nowhere, 0, [&](uint64_t) -> Status {
    return {Errc::Target, "interrupted"};
  });
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().message, "interrupted");
  EXPECT_EQ(*buffer.find({rsp::FrameSelect::Kind::Pc, 0, 0x10, 0x10}, 7, {}), 7u);
}

TEST(TraceBuffer, SearchesByEverything) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(1000).ok());
  const std::pair<int16_t, uint64_t> frames[] = {{1, 0x10}, {2, 0x20}, {1, 0x30}, {3, 0x20}};
  for (auto [tracepoint, pc] : frames) ASSERT_TRUE(buffer.append(record(tracepoint, pc), {}));
  using Found = std::optional<uint64_t>;
  EXPECT_EQ(*buffer.find({Kind::Number, 3, 0, 0}, 0, {}), Found(3));
  EXPECT_EQ(*buffer.find({Kind::Number, 4, 0, 0}, 0, {}), Found());
  EXPECT_EQ(*buffer.find({Kind::Pc, 0, 0x20, 0x20}, 0, {}), Found(1));
  EXPECT_EQ(*buffer.find({Kind::Pc, 0, 0x20, 0x20}, 2, {}), Found(3));
  EXPECT_EQ(*buffer.find({Kind::Pc, 0, 0x20, 0x20}, 4, {}), Found());
  EXPECT_EQ(*buffer.find({Kind::Tracepoint, 1, 0, 0}, 1, {}), Found(2));
  EXPECT_EQ(*buffer.find({Kind::Range, 0, 0x20, 0x30}, 0, {}), Found(1));
  EXPECT_EQ(*buffer.find({Kind::Range, 0, 0x21, 0x30}, 0, {}), Found(2));
  EXPECT_EQ(*buffer.find({Kind::Outside, 0, 0x10, 0x20}, 0, {}), Found(2));
  EXPECT_EQ(*buffer.find({Kind::Outside, 0, 0x10, 0x30}, 0, {}), Found());
  EXPECT_EQ(*buffer.find({Kind::None, 0, 0, 0}, 0, {}), Found());
  EXPECT_EQ(*buffer.find({Kind::Pc, 0, 0x20, 0x20}, UINT64_MAX, {}), Found());
}

/// Of registers, those that are not zero are kept. Their size need not be a multiple of words.
TEST(TraceBuffer, RegistersTakeWhatTheyHold) {
  std::mt19937 random(3);
  for (const uint32_t block : {0u, 1u, 7u, 8u, 9u, 64u, 515u, 520u, 2820u}) {
    TraceBuffer buffer;
    ASSERT_TRUE(buffer.resize(1 << 20).ok());
    buffer.set_machine(block, Endian::Little);
    std::vector<std::vector<uint8_t>> frames;
    std::vector<uint8_t> stream;
    for (int i = 0; i < 200; ++i) {
      std::vector<uint8_t> registers(block);
      size_t words = 0;
      for (size_t at = 0; at < block; at += 8) {
        if (random() % 4 != 0) continue;
        registers[at + random() % std::min<size_t>(8, block - at)] = 1;
        words += std::min<size_t>(8, block - at);
      }
      std::vector<uint8_t> data = {'R'};
      data.insert(data.end(), registers.begin(), registers.end());
      const auto memory = some_data(11 + random() % 9, 7);
      data.insert(data.end(), memory.begin(), memory.end());
      ASSERT_TRUE(buffer.append(record(1, 0x1000), data));
      const size_t map = ((block + 7) / 8 + 7) / 8;
      EXPECT_EQ(buffer.appended_bytes(), kept_bytes(1 + map + words + memory.size())) << block;
      ByteWriter writer(stream, Endian::Little);
      writer.uint(1, 2);
      writer.uint(data.size(), 4);
      writer.bytes(data);
      frames.push_back(std::move(data));
    }
    EXPECT_EQ(buffer.stream_bytes(), stream.size());
    EXPECT_EQ(read_all(buffer, 1000), stream);
    for (const size_t i : {199u, 3u, 130u, 131u, 0u, 64u}) {
      const auto frame = buffer.frame(i);
      ASSERT_TRUE(frame.ok());
      EXPECT_TRUE(std::ranges::equal(frame->blocks[0].bytes, Bytes(frames[i]).subspan(1, block)));
    }
  }
}

TEST(TraceBuffer, ManyPlacesAndMasksAreToldApart) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(1 << 22).ok());
  const auto of = [](int i) {
    FrameRecord one = record(static_cast<int16_t>(1 + i % 7), 0x400000u + 64u * (i % 3000));
    one.masked = i % 2;
    if (one.masked != 0) one.mask[i % 32] = static_cast<uint8_t>(1 + i % 3);
    return one;
  };
  constexpr int kFrames = 20'000;
  for (int i = 0; i < kFrames; ++i) ASSERT_TRUE(buffer.append(of(i), {}));
  for (int i = 0; i < kFrames; ++i) {
    const FrameRecord expected = of(i), found = buffer.record(static_cast<uint64_t>(i));
    ASSERT_EQ(found.tracepoint, expected.tracepoint);
    ASSERT_EQ(found.pc, expected.pc);
    ASSERT_EQ(found.masked, expected.masked);
    ASSERT_TRUE(std::ranges::equal(found.mask, expected.mask));
  }
}

TEST(TraceBuffer, FiveMegabytesHoldAHundredThousandIntegers) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(5 << 20).ok());
  const auto integer = memory_block(0x404028, std::vector<uint8_t>(8, 1));
  while (buffer.append(record(1, 0x401000), integer)) {
  }
  EXPECT_GE(buffer.count(), 100'000u);
}

/// Where there are many, the oldest go in groups: the newest are kept, all but a group fits,
/// and each can be asked for.
TEST(TraceBuffer, OfManyFramesTheNewestAreKept) {
  constexpr uint64_t kFrames = 20'000, kGroup = 128;
  TraceBuffer buffer;
  buffer.set_machine(0, Endian::Little);
  buffer.set_circular(true);
  const auto data = [](uint64_t number) {
    std::vector<uint8_t> bytes(8 + number % 5);
    store_uint(bytes.data(), number, 8, Endian::Little);
    return memory_block(0x1000, bytes);
  };
  uint64_t kept = 0;  // bytes of all frames
  for (uint64_t i = 0; i < kFrames; ++i) kept += kept_bytes(data(i).size());
  ASSERT_TRUE(buffer.resize(kept / 2).ok());
  for (uint64_t i = 0; i < kFrames; ++i) {
    ASSERT_TRUE(buffer.append(record(1, 0x400000), data(i)));
    ASSERT_EQ(buffer.created(), i + 1);
    if (i < kFrames * 2 / 3) continue;
    ASSERT_GE(buffer.count(), kFrames / 2 - kGroup - 2);
    ASSERT_LE(buffer.free_bytes(), (kGroup + 1) * kept_bytes(data(4).size()));
  }
  const uint64_t count = buffer.count();
  uint64_t stream = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto frame = buffer.frame(i);
    ASSERT_TRUE(frame.ok());
    const Bytes bytes = frame->blocks[0].bytes;
    ASSERT_EQ(load_uint(bytes.data(), 8, Endian::Little), kFrames - count + i);
    stream += rsp::kFrameHeaderBytes + data(kFrames - count + i).size();
  }
  EXPECT_EQ(buffer.stream_bytes(), stream);
  EXPECT_EQ(read_all(buffer, 4096).size(), stream);
}

TEST(TraceBuffer, RefusesSizesThatTheMachineDoesNotHave) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(100).ok());
  ASSERT_TRUE(buffer.append(record(1, 0), {}));
  const Status status = buffer.resize(uint64_t{1} << 60);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::Limit);
  EXPECT_EQ(buffer.count(), 1u) << "nothing changed";
  EXPECT_FALSE(buffer.resize(UINT64_MAX).ok());
}

TEST(TraceBuffer, StreamReadsAreClamped) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(100).ok());
  ASSERT_TRUE(buffer.append(record(7, 0), {}));
  EXPECT_EQ(*buffer.read_stream(0, SIZE_MAX), (std::vector<uint8_t>{7, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(buffer.read_stream(6, 1)->empty());
  EXPECT_TRUE(buffer.read_stream(UINT64_MAX, 1)->empty());
}

TEST(TraceBuffer, BigEndianFrames) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(100).ok());
  buffer.set_machine(0, Endian::Big);
  ASSERT_TRUE(buffer.append(record(0x102, 0), {}));
  EXPECT_EQ(*buffer.read_stream(0, 6), (std::vector<uint8_t>{1, 2, 0, 0, 0, 0}));
}

TEST(TraceBufferSource, HandsOutFramesWithThreadAndTime) {
  TraceBuffer buffer;
  ASSERT_TRUE(buffer.resize(100000).ok());
  for (int i = 0; i < 700; ++i) {
    FrameRecord about = record(1, 0x1000u + i);
    about.tid = 40 + i;
    about.time_ns = 1000 + i;
    ASSERT_TRUE(buffer.append(about, some_data(20, static_cast<uint8_t>(i))));
  }
  Catalog catalog;
  catalog.processes = {{.pid = 40}};
  TraceBufferSource source(buffer, catalog);
  Batch batch;
  uint64_t seen = 0;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      const Frame& frame = std::get<Frame>(event.body);
      EXPECT_EQ(event.seq, seen);
      EXPECT_EQ(event.tid, 40 + seen);
      EXPECT_EQ(event.process, 1u);
      EXPECT_EQ(event.time_ns, static_cast<int64_t>(1000 + seen));
      EXPECT_EQ(frame.pc, 0x1000 + seen);
      EXPECT_EQ(frame.blocks[0].bytes[0], static_cast<uint8_t>(seen));
      ++seen;
    }
  }
  EXPECT_EQ(seen, 700u);
  ASSERT_TRUE(source.seekable()->seek(699).ok());
  ASSERT_TRUE(*source.next(batch));
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_FALSE(source.seekable()->seek(701).ok());
}

}  // namespace
}  // namespace tracewell::agent
