// What an image's data will be, told before its loader has run.
#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "target/debuggee.h"
#include "target/linux/images/image_data.h"
#include "target/linux/memory/address_space.h"
#include "target/linux/memory/code_facts.h"

namespace tracewell::target::live {
namespace {

/// The main program's, as it stands at a time.
struct Look {
  std::vector<uint8_t> raw, told;  // of all its parts, one behind the other

  Look(const Debuggee& one, const std::string& name) {
    const auto space = AddressSpace::open(one.pid);
    EXPECT_TRUE(space.ok());
    const std::vector<Mapping> maps = mappings(one.pid);
    const auto code = std::ranges::find_if(maps, [&](const Mapping& map) {
      return map.executable && map.path == inferior(name);
    });
    if (!space.ok() || code == maps.end()) return;
    const ImageData data(**space, maps, *code, {});
    for (const pads::Range& part : data.parts()) {
      std::vector<uint8_t> bytes(part.end - part.start);
      bytes.resize((*space)->read(part.start, bytes));
      raw.insert(raw.end(), bytes.begin(), bytes.end());
      EXPECT_EQ(data.read(part.start, bytes), bytes.size());
      told.insert(told.end(), bytes.begin(), bytes.end());
    }
  }
};

class BeforeItsLoader : public ::testing::TestWithParam<std::string> {};

TEST_P(BeforeItsLoader, DataIsToldAsTheLoaderLeavesIt) {
  const std::string name = GetParam();
  const size_t word = name.ends_with("_32") ? 4 : 8;
  if (word == 4 && !runs_32_bit_programs()) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  Debuggee one;
  one.launch({name});
  const Look first(one, name);
  one.breakpoint(one.symbol("main"));
  ASSERT_EQ(one.go().kind, StopEvent::Kind::Breakpoint);
  const Look later(one, name);
  ASSERT_FALSE(first.raw.empty());
  ASSERT_EQ(first.raw.size(), later.raw.size());
  size_t fixed = 0;
  for (size_t at = 0; at + word <= first.raw.size(); at += word) {
    if (std::memcmp(&first.raw[at], &first.told[at], word) == 0) continue;
    ++fixed;
    EXPECT_EQ(std::memcmp(&first.told[at], &later.raw[at], word), 0) << name << " at " << at;
  }
  EXPECT_GE(fixed, 3U) << "addresses that are told";
  EXPECT_EQ(later.told, later.raw) << "once it is there, it is as it is";
}

INSTANTIATE_TEST_SUITE_P(ImageData, BeforeItsLoader,
                         ::testing::Values("restartable", "restartable_packed", "program_32"));

TEST(ImageData, OfNonsenseIsNoHarm) {
  Debuggee one;
  one.launch({"restartable_packed"});
  const std::vector<Mapping> maps = mappings(one.pid);
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    for (const Mapping& map : maps) {
      if (map.path != inferior("restartable_packed") || (!map.writable && random() % 8 != 0))
        continue;
      for (int i = 0; i < 20; ++i) {
        // Values of the tables of all kinds, and addresses inside.
        const uint64_t value = random() % 2 == 0 ? map.start + random() % 8192 : random() % 64;
        std::vector<uint8_t> bytes(8);
        std::memcpy(bytes.data(), &value, 8);
        const uint64_t at = map.start + random() % ((map.end - map.start) / 8) * 8;
        EXPECT_TRUE(one.target->write_memory(one.pid, at, bytes).ok());
      }
    }
    const Look look(one, "restartable_packed");
    EXPECT_EQ(look.raw.size(), look.told.size());
  }
}

/// What was found out halfway is not kept for an answer.
TEST(ImageData, SequencesAreNotHalfKnown) {
  Debuggee one;
  one.launch({"restartable"});
  const auto space = AddressSpace::open(one.pid);
  ASSERT_TRUE(space.ok());
  const std::vector<Mapping> maps = mappings(one.pid);
  const uint64_t inside = one.symbol("sequence_begins");
  const auto found = [&](const std::function<bool()>& stop) {
    return in_restartable_sequence(**space, (*space)->sequences, maps, inside, stop);
  };
  EXPECT_FALSE(found([] { return true; }).ok()) << "the server is to end";
  for (int calls = 0; calls < 8; ++calls) {
    const auto held = found([left = calls]() mutable { return left-- <= 0; });
    EXPECT_TRUE(!held.ok() || *held) << calls;
  }
  EXPECT_TRUE(found({}).ok() && *found({}));
}

}  // namespace
}  // namespace tracewell::target::live
