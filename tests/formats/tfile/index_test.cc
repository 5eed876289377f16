// The sparse index against a list of all frames.
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/random_trace.h"
#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

struct Known {
  int32_t tracepoint;
  std::optional<uint64_t> pc;
};

template <class Matches>
std::optional<uint64_t> naive(const std::vector<Known>& all, uint64_t from, Matches&& matches) {
  for (uint64_t i = from; i < all.size(); ++i)
    if (matches(all[i])) return i;
  return std::nullopt;
}

/// Enough frames for several checkpoints; pcs few, so that searches hit.
std::string make_file(std::mt19937_64& random, size_t count) {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = machine::x86_64_layout({});
  for (uint32_t n = 1; n <= 3; ++n) {
    catalog.tracepoints.emplace_back();
    catalog.tracepoints.back().number = n;
    catalog.tracepoints.back().address = 0x1000 + n;
  }
  Batch batch;
  for (size_t i = 0; i < count; ++i) {
    Frame frame;
    frame.tracepoint = static_cast<int32_t>(1 + random() % (i > count / 2 ? 5 : 3));
    std::vector<uint8_t> registers(catalog.registers.size_bytes);
    FrameBlock blocks[2];
    blocks[0].kind = FrameBlock::Kind::Variable;
    blocks[1].kind = FrameBlock::Kind::Registers;
    store_uint(registers.data() + 128, 0x2000 + (i / 200) * 16 + random() % 4, 8, Endian::Little);
    blocks[1].bytes = batch.copy(Bytes(registers));
    const size_t used = random() % 3;
    frame.blocks = batch.copy_array(std::span<const FrameBlock>(blocks, used));
    batch.add().body = frame;
  }
  ListSource source(catalog, batch.events());
  return written(source, "tfile");
}

TEST(TfileIndex, SearchesLikeAListOfAllFrames) {
  std::mt19937_64 random(3);
  for (const size_t count : {0, 1, 127, 128, 129, 2000}) {
    Opened opened(make_file(random, count));
    ASSERT_TRUE(opened.source);
    std::vector<Known> all;
    Batch batch;
    while (*opened.source->next(batch))
      for (const Event& event : batch.events())
        all.push_back({std::get<Frame>(event.body).tracepoint, std::get<Frame>(event.body).pc});
    ASSERT_EQ(all.size(), count);
    FrameIndex& index = *opened.source->frames();
    for (int round = 0; round < 300; ++round) {
      const uint64_t from = random() % (count + 2);
      const auto tracepoint = static_cast<int32_t>(random() % 7);
      const uint64_t lo = random() % 8 == 0 ? 0x1001 : 0x1ff0 + random() % 200;
      const uint64_t hi = lo + random() % 40;
      auto inside = [&](const Known& k) { return k.pc && *k.pc >= lo && *k.pc <= hi; };
      auto outside = [&](const Known& k) { return k.pc && (*k.pc < lo || *k.pc > hi); };
      EXPECT_EQ(index.find_tracepoint(from, tracepoint),
                naive(all, from, [&](const Known& k) { return k.tracepoint == tracepoint; }));
      EXPECT_EQ(index.find_pc_inside(from, lo, hi), naive(all, from, inside));
      EXPECT_EQ(index.find_pc_outside(from, lo, hi), naive(all, from, outside));
    }
  }
}

TEST(TfileIndex, SeeksAnywhere) {
  std::mt19937_64 random(4);
  Opened opened(make_file(random, 3000));
  Seekable& seekable = *opened.source->seekable();
  ASSERT_EQ(seekable.count(), 3000u);
  Batch batch;
  for (int round = 0; round < 300; ++round) {
    const uint64_t seq = random() % 3000;
    ASSERT_TRUE(seekable.seek(seq).ok());
    ASSERT_TRUE(*opened.source->next(batch));
    EXPECT_EQ(batch.events()[0].seq, seq);
  }
  ASSERT_TRUE(seekable.seek(3000).ok());
  EXPECT_FALSE(*opened.source->next(batch));
  EXPECT_FALSE(seekable.seek(3001).ok());
}

}  // namespace
}  // namespace tracewell::formats::test
