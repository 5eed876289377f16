#include "pads/patches.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "pads/arrange.h"
#include "pads/program.h"

namespace tracewell::pads {
namespace {

/// push rbp; mov rbp, rsp; sub rsp, 32; mov eax, 5; pop rbp; ret
const std::vector<uint8_t> kFunction = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xb8,
                                        5,    0,    0,    0,    0x5d, 0xc3, 0xcc, 0xcc, 0xcc,
                                        0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
const uint64_t kSites[] = {0, 1, 4, 8, 13, 14};
const std::vector<uint8_t> kWithoutPadding(kFunction.begin(), kFunction.begin() + 15);

bool is_original(const World& world) {
  for (uint64_t at = world.code.range().start; at < world.code.range().end; ++at)
    if (world.patches.value(at) != world.code.bytes_at(at)[0] || !world.patches.free(at))
      return false;
  return true;
}

TEST(Patches, ASiteAmongSeveralGetsASlotInTheirPad) {
  World world({kFunction});
  EXPECT_EQ(world.add(0).kind, Kind::Several);
  const Plan rider = world.add(4);
  EXPECT_EQ(rider.kind, Kind::Rider);
  EXPECT_EQ(rider.host, kAt);
  EXPECT_TRUE(rider.writes.empty());
  const Patches::Entry* entry = world.patches.serving(kAt + 4);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->slots, (std::set<uint64_t>{kAt, kAt + 4}));
  EXPECT_EQ(world.patches.serving(kAt + 1), nullptr);

  // The host's own slot goes; the pad stays for the rider.
  Patches::Removal removal = world.patches.remove(kAt);
  EXPECT_TRUE(removal.gone.empty());
  EXPECT_EQ(removal.changed, (std::vector<uint64_t>{kAt}));
  EXPECT_EQ(world.patches.serving(kAt), nullptr);
  EXPECT_NE(world.patches.find(kAt), nullptr);
  // And may come back.
  EXPECT_EQ(world.add(0).kind, Kind::Rider);
  world.patches.remove(kAt);

  removal = world.patches.remove(kAt + 4);
  ASSERT_EQ(removal.gone.size(), 1u);
  EXPECT_EQ(removal.gone[0].site, kAt);
  EXPECT_TRUE(is_original(world));
  EXPECT_TRUE(world.patches.remove(kAt + 4).gone.empty());
}

TEST(Patches, APlanStaysWhileAnotherOneReliesOnItsBytes) {
  World world({kWithoutPadding});
  ASSERT_EQ(world.add(8).kind, Kind::Direct);
  // Not several, for these are written already: its distance ends in bytes of that jump.
  const Plan lower = world.add(4);
  ASSERT_EQ(lower.kind, Kind::Punned);
  ASSERT_EQ(lower.relied.size(), 1u);
  EXPECT_EQ(lower.relied[0].address, kAt + 8);
  EXPECT_EQ(lower.relied[0].bytes[0], 0xe9);

  Patches::Removal removal = world.patches.remove(kAt + 8);
  EXPECT_TRUE(removal.gone.empty());
  EXPECT_EQ(removal.changed, (std::vector<uint64_t>{kAt + 8}));
  removal = world.patches.remove(kAt + 4);
  EXPECT_EQ(removal.gone.size(), 2u);
  EXPECT_TRUE(is_original(world));
}

TEST(Patches, APlanForAnotherStateIsNotTaken) {
  World world({kWithoutPadding});
  const Plan first = world.plan(0);
  const Plan second = world.plan(4);
  EXPECT_TRUE(world.patches.add(first));
  EXPECT_FALSE(world.patches.add(first));
  EXPECT_FALSE(world.patches.add(second));
  Plan none;
  none.site = kAt + 13;
  EXPECT_FALSE(world.patches.add(none));
  world.patches.remove(kAt);
  // Relied bytes that are no longer there.
  world.add(8);
  const Plan lower = world.plan(4);
  world.patches.remove(kAt + 8);
  EXPECT_FALSE(world.patches.add(lower));
}

TEST(Patches, WhoMeetsABreakpoint) {
  World world({kFunction});
  EXPECT_EQ(world.patches.meeting(world.code.range()), nullptr);
  world.add(0);
  const Patches::Entry* entry = world.patches.meeting({kAt + 4, kAt + 5});
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->plan.site, kAt);
  EXPECT_EQ(world.patches.meeting({kAt + 8, kAt + 9}), nullptr);
}

/// An endbr64 that the jump in front of it relies on; its own jump stands behind it.
const Program kBeforeEndbr = {{0x48, 0x8b, 0x0c, 0xce,        // 0   mov (%rsi,%rcx,8),%rcx
                               0xff, 0xe1,                    // 4   jmp *%rcx
                               0xf3, 0x0f, 0x1e, 0xfa,        // 6   endbr64
                               0x85, 0xff,                    // 10  test %edi,%edi
                               0x7e, 0x08,                    // 12  jle 22
                               0x83, 0xc7, 0x01,              // 14  add $1,%edi
                               0xb8, 0x01, 0x00, 0x00, 0x00,  // 17  mov $1,%eax
                               0xc3}};                        // 22
const std::vector<uint64_t> kBeforeEndbrSites = {0, 4, 6, 10, 12, 14, 17, 22};

/// Whoever comes in whatever order: each gets a pad or a trap, and nobody loses all that it had.
TEST(Arrange, NobodyIsLeftWithoutAnything) {
  std::mt19937 random(23);
  size_t made_room = 0;
  for (int round = 0; round < 900; ++round) {
    World world(round % 3 == 0   ? Program{kFunction}
                : round % 3 == 1 ? Program{kWithoutPadding}
                                 : kBeforeEndbr);
    std::vector<uint64_t> order(std::begin(kSites), std::end(kSites));
    if (round % 3 == 2) order = kBeforeEndbrSites;
    std::shuffle(order.begin(), order.end(), random);
    std::map<uint64_t, std::vector<uint8_t>> written;
    for (size_t i = 0; i < order.size(); ++i) {
      const Change change = admit(world.patches, kAt + order[i]);
      ASSERT_FALSE(change.come.empty());
      EXPECT_EQ(change.come.front().site, kAt + order[i]);
      made_room += change.gone.size();
      // Who does what the change says has the bytes that the patches say.
      for (const Plan& plan : change.gone)
        for (const Write& write : plan.writes) written.erase(write.address);
      for (const Plan& plan : change.come)
        for (const Write& write : plan.writes) written[write.address] = write.bytes;
      size_t bytes = 0;
      for (const auto& [at, values] : written)
        for (size_t k = 0; k < values.size(); ++k, ++bytes)
          ASSERT_EQ(world.patches.value(at + k), values[k]);
      size_t patched = 0;
      for (uint64_t at = world.code.range().start; at < world.code.range().end; ++at) {
        const Patches::Byte* byte = world.patches.byte(at);
        patched += byte != nullptr && byte->written;
      }
      EXPECT_EQ(bytes, patched);
      for (size_t k = 0; k <= i; ++k)
        ASSERT_NE(world.patches.serving(kAt + order[k]), nullptr);
    }
    for (const uint64_t site : order) world.patches.remove(kAt + site);
    ASSERT_TRUE(is_original(world));
  }
  EXPECT_GT(made_room, 50u);
}

TEST(Arrange, WhatChangesNothing) {
  World world({kFunction});
  EXPECT_TRUE(admit(world.patches, kAt + 1000).come.empty());
  EXPECT_EQ(admit(world.patches, kAt).come.size(), 1u);
  EXPECT_TRUE(admit(world.patches, kAt).come.empty());
}

/// However they come and go: no byte is written by two, what is relied on stays, and nothing is
/// left behind.
TEST(Patches, ComeAndGoInAnyOrder) {
  std::mt19937 random(17);
  World world({kFunction});
  std::set<uint64_t> wanted;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t site = kAt + kSites[random() % std::size(kSites)];
    if (wanted.erase(site) != 0) {
      world.patches.remove(site);
    } else {
      const Plan plan = world.planner.plan(site);
      ASSERT_EQ(world.patches.add(plan), plan.kind != Kind::None);
      if (plan.kind != Kind::None) wanted.insert(site);
    }
    for (const uint64_t one : wanted) {
      const Patches::Entry* entry = world.patches.serving(one);
      ASSERT_NE(entry, nullptr);
      for (const Write& write : entry->plan.writes)
        for (size_t k = 0; k < write.bytes.size(); ++k)
          ASSERT_EQ(world.patches.value(write.address + k), write.bytes[k]);
      for (const Write& relied : entry->plan.relied)
        for (size_t k = 0; k < relied.bytes.size(); ++k)
          ASSERT_EQ(world.patches.value(relied.address + k), relied.bytes[k]);
    }
    if (wanted.empty()) {
      ASSERT_TRUE(is_original(world));
      ASSERT_EQ(world.patches.space().pages(), 0u);
    }
  }
}

}  // namespace
}  // namespace tracewell::pads
