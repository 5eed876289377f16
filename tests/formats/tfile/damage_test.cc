// Damaged trace files: whatever is cut or flipped, whole frames are kept and nothing breaks.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/random_trace.h"
#include "formats/support.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

std::vector<std::string> event_lines(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch))
    for (const Event& event : batch.events())
      append_event_json(out.emplace_back(), source.catalog(), event);
  return out;
}

std::string small_file() {
  RandomTrace trace(12);
  Catalog catalog = trace.catalog;
  catalog.target_description.clear();
  catalog.registers = {};
  catalog.registers.size_bytes = 4;
  catalog.machine = "unknown";
  Batch batch;
  for (int i = 0; i < 6; ++i) {
    FrameBlock blocks[3];
    blocks[0].kind = FrameBlock::Kind::Memory;
    blocks[0].address = 0x1000;
    blocks[0].bytes = batch.copy(std::string_view("abcd")).empty() ? Bytes() : as_bytes("abcd");
    blocks[1].kind = FrameBlock::Kind::Variable;
    blocks[1].number = i;
    blocks[2].kind = FrameBlock::Kind::Static;
    Event& event = batch.add();
    event.time_ns = i;
    event.body =
        Frame{1 + i, std::nullopt, batch.copy_array(std::span<const FrameBlock>(blocks)), {}};
  }
  ListSource source(catalog, batch.events());
  return written(source, "tfile");
}

TEST(TfileDamage, CutAtEveryByte) {
  const std::string whole = small_file();
  Opened opened(whole);
  ASSERT_TRUE(opened.source);
  ASSERT_TRUE(opened.problems->empty());
  std::vector<std::string> all = event_lines(*opened.source);
  ASSERT_EQ(all.size(), 6u);
  size_t most = 0;
  const size_t frame_bytes = 6 + 15 + 13 + 3;
  const size_t frames_end = whole.find("\n\n") + 2 + 6 * frame_bytes;
  for (size_t size = 0; size < whole.size(); size += tracewell::test::kEach) {
    SCOPED_TRACE(size);
    Opened cut(std::string_view(whole).substr(0, size), size < 8 ? "tfile" : "");
    if (size < 8) {
      EXPECT_FALSE(cut.source);
      continue;
    }
    ASSERT_TRUE(cut.source) << cut.error;
    const auto lines = event_lines(*cut.source);
    ASSERT_LE(lines.size(), all.size());
    EXPECT_GE(lines.size(), most);  // never fewer frames from more bytes
    most = lines.size();
    // Cut between the terminating zeros and the trailer, it is a whole file, of GDB's kind.
    const std::string_view tail = std::string_view(whole).substr(std::min(size, frames_end),
                                                                 size - std::min(size, frames_end));
    if (tail.size() >= 2 && tail.size() <= 4) continue;
    EXPECT_FALSE(cut.problems->empty());
  }
  EXPECT_EQ(most, 6u);
}

TEST(TfileDamage, FlippedBytes) {
  const std::string whole = small_file();
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string bad = whole;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1u << (random() % 8));
    Opened opened(bad, "tfile");
    if (!opened.source) continue;
    event_lines(*opened.source);
    FrameIndex* index = opened.source->frames();
    index->find_pc_outside(0, 5, 6);
    index->find_tracepoint(0, 3);
  }
}

TEST(TfileDamage, HostileTrailers) {
  const std::string whole = small_file();
  const size_t footer = whole.size() - 32;
  for (size_t at = footer; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string bad = whole;
      if (bad[at] == value) continue;
      bad[at] = value;
      Opened opened(bad);
      ASSERT_TRUE(opened.source);
      EXPECT_FALSE(opened.problems->empty());
      EXPECT_EQ(event_lines(*opened.source).size(), 6u);  // the frames do not need it
    }
  }
}

TEST(TfileDamage, TrailerInsideTheFrames) {
  // A trailer that claims to begin before the frames end is not believed.
  std::string bad = small_file();
  const size_t terminator = bad.size() - 32;
  std::string frames = bad.substr(0, bad.find("\n\n") + 2);
  std::string trailer = bad.substr(terminator);
  // 32 bytes of footer alone, as the data of a frame of tracepoint 1
  trailer.replace(4, 4, std::string(4, '\0'));
  trailer.replace(8, 8, std::string("\x20\0\0\0\0\0\0\0", 8));
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 16; i += 8)
    hash = (hash ^
            load_uint(reinterpret_cast<const uint8_t*>(trailer.data()) + i, 8, Endian::Little)) *
           0x100000001b3;
  for (int i = 0; i < 8; ++i)
    trailer[static_cast<size_t>(16 + i)] = static_cast<char>(hash >> 8 * i);
  frames += std::string("\x01\0\x23\0\0\0S\x20\0", 9) + trailer;
  Opened opened(frames);
  ASSERT_TRUE(opened.source);
  EXPECT_EQ(event_lines(*opened.source).size(), 1u);
}

}  // namespace
}  // namespace tracewell::formats::test
