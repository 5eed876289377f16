// Descriptors of restartable sequences among other data.
#include <gtest/gtest.h>

#include <random>

#include "base/endian.h"
#include "pads/restartable.h"

namespace tracewell::pads {
namespace {

constexpr uint64_t kCode = 0x401000, kData = 0x404010;  // the first descriptor is 16 bytes later

struct Image {
  std::vector<uint8_t> code = std::vector<uint8_t>(4096, 0x90);
  std::vector<uint8_t> data = std::vector<uint8_t>(1024);

  void describe(uint64_t at, uint64_t start, uint64_t length, uint64_t abort, uint64_t head = 0) {
    store_uint(&data[at], head, 8, Endian::Little);
    store_uint(&data[at + 8], start, 8, Endian::Little);
    store_uint(&data[at + 16], length, 8, Endian::Little);
    store_uint(&data[at + 24], abort, 8, Endian::Little);
  }
  void sign(uint64_t abort) {
    store_uint(&code[abort - kCode - 4], 0x53053053, 4, Endian::Little);
  }
  RestartableSequences sequences() const {
    RestartableSequences found({kCode, kCode + code.size()}, [this](uint64_t at) {
      return static_cast<uint32_t>(load_uint(&code.at(at - kCode), 4, Endian::Little));
    });
    found.look_at({kData, data});
    return found;
  }
  std::vector<Range> found() const { return sequences().ranges(); }
};

TEST(Restartable, IsFoundWithItsSignature) {
  Image image;
  image.describe(16, kCode + 100, 30, kCode + 200);
  image.describe(16 + 96, kCode + 50, 10, kCode + 4, uint64_t{7} << 32);
  image.describe(16 + 160, kCode + 110, 60, kCode + 4);  // with a part of the first
  image.sign(kCode + 200);
  image.sign(kCode + 4);
  const std::vector<Range> expected = {{kCode, kCode + 4},
                                       {kCode + 50, kCode + 60},
                                       {kCode + 100, kCode + 170},
                                       {kCode + 196, kCode + 200}};
  EXPECT_EQ(image.found(), expected);
  EXPECT_EQ(image.sequences().starts(),
            (std::vector<uint64_t>{kCode + 50, kCode + 100, kCode + 110}));
}

/// Data of any size can say the same, or anything: neither time nor memory go with that.
TEST(Restartable, TooManyAreAllThereIs) {
  Image image;
  image.code.assign(size_t{4} << 20, 0x90);
  image.data.assign(size_t{16} << 20, 0);
  image.sign(kCode + 200);
  const uint64_t all = image.code.size(), most = image.data.size() / 32 - 1;
  for (uint64_t i = 0; i < most; ++i)
    image.describe(16 + i * 32, kCode + i % 2, all - 1, kCode + 200);
  EXPECT_EQ(image.found(), (std::vector<Range>{{kCode, kCode + all}}));
  EXPECT_EQ(image.sequences().starts(), (std::vector<uint64_t>{kCode, kCode + 1}));
  const uint64_t max = RestartableSequences::kRangesMax - 1;  // and the signature
  for (uint64_t i = 0; i < most; ++i)
    image.describe(16 + i * 32, kCode + 201 + i % max * 3, 1, kCode + 200);
  EXPECT_EQ(image.found().size(), max + 1);
  EXPECT_EQ(image.sequences().starts().size(), max);
  for (uint64_t i = 0; i < most; ++i)
    image.describe(16 + i * 32, kCode + 201 + i * 3, 1, kCode + 200);
  EXPECT_EQ(image.found(), (std::vector<Range>{{kCode, kCode + all}}));
  EXPECT_TRUE(image.sequences().starts().empty());
}

TEST(Restartable, OtherDataIsNone) {
  Image image;
  image.sign(kCode + 200);
  image.sign(kCode + 4);
  image.describe(16 + 32, kCode + 100, 30, kCode + 300);         // no signature
  image.describe(16 + 64 + 8, kCode + 100, 30, kCode + 200);     // not aligned
  image.describe(16 + 128, kCode + 100, 30, kCode + 200, 1);     // another version
  image.describe(16 + 192, kCode - 1, 30, kCode + 200);          // outside
  image.describe(16 + 224, kCode + 4096, 0, kCode + 200);
  image.describe(16 + 256, kCode + 4000, 97, kCode + 200);
  image.describe(16 + 288, kCode + 4000, ~uint64_t{0}, kCode + 200);
  image.describe(16 + 320, kCode + 100, 30, kCode + 3);          // in front of all code
  image.describe(16 + 352, kCode + 100, 30, kCode + 5000);
  image.describe(1024 - 32, kCode + 100, 30, kCode + 200);       // cut
  EXPECT_TRUE(image.found().empty());
  std::mt19937_64 random(5);
  for (int round = 0; round < 1000; ++round) {
    for (uint64_t at = 0; at < image.data.size(); at += 8)
      store_uint(&image.data[at], random() % 3 == 0 ? 0 : kCode + random() % 5000, 8,
                 Endian::Little);
    for (const Range& one : image.found()) {
      EXPECT_LE(one.end, kCode + 4096);
      EXPECT_GE(one.start, kCode);
    }
  }
}

}  // namespace
}  // namespace tracewell::pads
