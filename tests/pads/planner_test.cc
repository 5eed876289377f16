#include "pads/planner.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "pads/emit.h"
#include "pads/program.h"

namespace tracewell::pads {
namespace {

using Code8 = std::vector<uint8_t>;

/// The bytes with the patches in them.
Code8 patched(const World& world) {
  Code8 bytes;
  for (uint64_t at = world.code.range().start; at < world.code.range().end; ++at)
    bytes.push_back(*world.patches.value(at));
  return bytes;
}

/// Where a jump leads that stands at this offset of the patched bytes; 0 = none does.
uint64_t jump_at(const World& world, uint64_t offset) {
  const Code8 bytes = patched(world);
  uint64_t at = offset;
  while (at < bytes.size() && (bytes[at] == 0x2e || bytes[at] == 0x26 || bytes[at] == 0x36 ||
                               bytes[at] == 0x3e || bytes[at] == 0x64 || bytes[at] == 0x65))
    ++at;
  if (at + 5 > bytes.size() || bytes[at] != 0xe9) return 0;
  const auto distance = static_cast<int32_t>(load_uint(&bytes[at + 1], 4, Endian::Little));
  return kAt + at + 5 + static_cast<uint64_t>(int64_t{distance});
}

/// All of the plan's jumps lead to its pads, which are where they may be.
void expect_sound(const World& world, const Plan& plan) {
  for (const Jump& jump : plan.jumps) {
    EXPECT_EQ(jump_at(world, jump.at - kAt), jump.pad);
    EXPECT_TRUE(jump.reach.holds(jump.pad));
    EXPECT_TRUE(jump.window.holds(jump.pad));
    EXPECT_FALSE(world.patches.space().is_free(jump.pad_range()));
  }
  for (size_t i = 0; i < plan.jumps.size(); ++i) {
    const Code8 slot(kSlotBytes, 0x90);
    EXPECT_TRUE(emit(world.code, plan, i, std::vector<Slot>{{plan.site, slot}}).ok());
  }
}

Code8 nops(size_t count) { return Code8(count, 0x90); }
Code8 joined(Code8 a, const Code8& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Code8 kMov = {0xb8, 1, 2, 3, 4};            // mov eax, imm32
const Code8 kPush = {0x55}, kRet = {0xc3};
const Code8 kMove = {0x48, 0x89, 0xe5};           // mov rbp, rsp
const Code8 kSub = {0x48, 0x83, 0xec, 0x20};      // sub rsp, 32
const Code8 kPadding = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};

TEST(Planner, FiveBytesHoldAJump) {
  World world({joined(kMov, kRet)});
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Direct);
  ASSERT_EQ(plan.jumps.size(), 1u);
  EXPECT_EQ(plan.jumps[0].moved, (std::vector<Moved>{{kAt, 5}}));
  EXPECT_TRUE(plan.relied.empty());
  EXPECT_TRUE(plan.guards.empty());
  expect_sound(world, plan);
}

TEST(Planner, SeveralInstructionsWithGuards) {
  World world({joined(joined(kPush, kMove), joined(kSub, kRet))});
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Several);
  EXPECT_EQ(plan.jumps[0].moved, (std::vector<Moved>{{kAt, 1}, {kAt + 1, 3}, {kAt + 4, 4}}));
  EXPECT_EQ(plan.guards, (std::vector<uint64_t>{kAt + 1, kAt + 4}));
  EXPECT_EQ(patched(world)[1], 0xcc);
  // The last byte is the distance's sign: one of those that trap.
  const Code8 traps = {0xcc, 0x06, 0x0e, 0x16, 0x1e, 0x27, 0x2f,
                       0x37, 0x3f, 0x9a, 0xce, 0xd4, 0xea};
  EXPECT_NE(std::find(traps.begin(), traps.end(), patched(world)[4]), traps.end());
  expect_sound(world, plan);
}

TEST(Planner, GuardsDoWithoutWhatIsBelowWhenThereIsNone) {
  // Near the bottom of the address space, int3 as the sign byte leads below 0.
  const uint64_t low = 0x40'0000;
  const Code8 bytes = joined(joined(kPush, kMove), joined(kSub, kRet));
  CodeInput input;
  input.code = {low, bytes};
  input.functions = {{low, low + bytes.size()}};
  const Code code(input);
  const Patches patches(code, PadSpace({{low, low + 0x1000}}), kSlotBytes);
  const Plan plan = Planner(patches).plan(low);
  EXPECT_EQ(plan.kind, Kind::Several);
  EXPECT_GT(plan.jumps[0].pad, low);
}

/// Whatever the spread, a pad is as good as without.
TEST(Planner, PadsAreWhereTheSpreadPutsThem) {
  const Code8 bytes[] = {joined(kMov, kRet), joined(joined(kPush, kMove), joined(kSub, kRet))};
  for (const Code8& one : bytes) {
    const Kind usual = World({one}).plan(0).kind;
    std::set<uint64_t> places;
    for (uint32_t i = 0; i < 64; ++i) {
      World world({one}, empty_space(), i * 0x9e37'79b9);
      const Plan plan = world.add(0);
      EXPECT_EQ(plan.kind, usual);
      expect_sound(world, plan);
      for (const Jump& jump : plan.jumps) places.insert(jump.pad);
    }
    EXPECT_GE(places.size(), 32u);
  }
}

TEST(Planner, LowProgramsHaveTheirPadsSpreadBelow) {
  const uint64_t low = 0x40'0000;
  const Code8 bytes = joined(kMov, kRet);
  CodeInput input;
  input.code = {low, bytes};
  input.functions = {{low, low + bytes.size()}};
  const Code code(input);
  std::set<uint64_t> places;
  for (uint32_t i = 0; i < 64; ++i) {
    const Patches patches(code, PadSpace({{low, low + 0x1000}}), kSlotBytes, i * 0x9e37'79b9);
    const Plan plan = Planner(patches).plan(low);
    ASSERT_EQ(plan.kind, Kind::Direct);
    places.insert(plan.jumps[0].pad);
  }
  EXPECT_GE(places.size(), 32u);
}

TEST(Planner, NothingIsWrittenOverWhereSomethingEnters) {
  // push; mov; sub; jmp to the mov
  Code8 bytes = joined(joined(kPush, kMove), kSub);
  bytes = joined(bytes, {0xeb, 0xf7});
  World world({bytes});
  EXPECT_TRUE(world.code.entered(kAt + 1));
  const Plan plan = world.add(0);
  EXPECT_TRUE(plan.kind == Kind::Punned || plan.kind == Kind::Successor);
  for (const Write& write : plan.writes)
    EXPECT_TRUE(write.address != kAt + 1 || write.bytes[0] == 0xe9 || write.bytes[0] == 0x2e);
  expect_sound(world, plan);
}

TEST(Planner, HandlersOfExceptionsAreEntered) {
  const Program program{.bytes = joined(joined(kPush, kMove), joined(kSub, kRet)),
                        .entries = {kAt + 4}};
  EXPECT_NE(World(program).plan(0).kind, Kind::Several);
}

TEST(Planner, ReturnAddressesStay) {
  // push; call rax; mov: who returns comes to +3
  World inside({joined(joined(kPush, {0xff, 0xd0}), joined(kMove, kRet))});
  EXPECT_NE(inside.plan(0).kind, Kind::Several);
  // push; call rel32: as the last one it may be copied, and pushes the original address
  World last({joined(joined(kPush, {0xe8, 0, 1, 0, 0}), kRet)});
  const Plan plan = last.add(0);
  ASSERT_EQ(plan.kind, Kind::Several);
  const auto pad = emit(last.code, plan, 0, {});
  ASSERT_TRUE(pad.ok());
  const Code8 pushed = {0x68, 0x06, 0x00, 0x55, 0x55};  // push imm32, the lower half
  EXPECT_NE(std::search(pad->code.begin(), pad->code.end(), pushed.begin(), pushed.end()),
            pad->code.end());
}

TEST(Planner, BehindAReturnPaddingWillDo) {
  World world({joined(kRet, kPadding)});
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Several);
  EXPECT_EQ(plan.jumps[0].moved.size(), 1u);
  EXPECT_TRUE(plan.guards.empty());
  // What is no padding will not.
  World other({joined(kRet, joined(kPush, nops(8)))});
  EXPECT_NE(other.plan(0).kind, Kind::Several);
}

/// Places that are all entered: `jmp rax` somewhere.
Code8 unclear(Code8 bytes) { return joined(std::move(bytes), {0xff, 0xe0}); }

TEST(Planner, AShortJumpToPadding) {
  Program program{joined(unclear(joined({0x31, 0xc0}, nops(8))), kPadding)};
  program.functions = {{kAt, kAt + 12}};
  World world(program);
  const Plan plan = world.add(0);
  ASSERT_EQ(plan.kind, Kind::ShortJump);
  EXPECT_EQ(patched(world)[0], 0xeb);
  EXPECT_EQ(patched(world)[1], 10);  // to +12
  EXPECT_EQ(plan.jumps[0].at, kAt + 12);
  expect_sound(world, plan);
}

TEST(Planner, ADistanceThatEndsInTheNextInstruction) {
  // xor eax, eax; mov rbp, rsp: the last two bytes of the distance are 48 89
  World world({unclear(joined({0x31, 0xc0}, joined(kMove, nops(4))))}, empty_space());
  const Plan plan = world.add(0);
  ASSERT_EQ(plan.kind, Kind::Punned);
  EXPECT_EQ(plan.jumps[0].reach.mask & 0xffff0000, 0xffff0000);
  ASSERT_EQ(plan.relied.size(), 1u);
  EXPECT_EQ(plan.relied[0].address, kAt + 2);
  const Code8 bytes = patched(world);
  EXPECT_TRUE(std::equal(kMove.begin(), kMove.end(), bytes.begin() + 2));
  expect_sound(world, plan);
}

TEST(Planner, PrefixesShiftWhichBytesAreGiven) {
  // Its distance would have to end in 00 00 00, where the code is; with a prefix, in 05.
  const Code8 bytes = unclear({0x31, 0xc0, 0x00, 0x00, 0x00, 0x05, 1, 1, 1, 1});
  World world({bytes}, PadSpace({{kAt, kAt + 0x1'0000}}));
  const Plan plan = world.add(0);
  ASSERT_EQ(plan.kind, Kind::Punned);
  EXPECT_EQ(plan.jumps[0].prefixes, 1);
  expect_sound(world, plan);
}

TEST(Planner, TheNextInstructionMakesRoom) {
  // push; add rax, 0: a distance that ends in 00 leads into the code itself
  World world({unclear({0x55, 0x48, 0x81, 0xc0, 0, 0, 0, 0})},
              PadSpace({{kAt, kAt + 0x100'0000}}));
  const Plan plan = world.add(0);
  ASSERT_EQ(plan.kind, Kind::Successor);
  ASSERT_EQ(plan.jumps.size(), 2u);
  EXPECT_EQ(plan.jumps[1].moved, (std::vector<Moved>{{kAt + 1, 7}}));
  EXPECT_EQ(world.add(1).kind, Kind::Rider);
  expect_sound(world, plan);
}

TEST(Planner, ANeighbourMakesRoom) {
  World world({unclear(joined({0x31, 0xc0}, joined(kMov, kMov)))});
  const Plan plan = Planner(world.patches, Kind::Neighbour).plan(kAt);
  ASSERT_EQ(plan.kind, Kind::Neighbour);
  ASSERT_TRUE(world.patches.add(plan));
  EXPECT_EQ(patched(world)[0], 0xeb);
  EXPECT_EQ(plan.jumps.size(), 2u);
  // The neighbour is still entered at its own start.
  EXPECT_TRUE(world.code.starts(plan.jumps[1].at));
  expect_sound(world, plan);
}

TEST(Planner, WhatIsNeverCopied) {
  const auto plan = [](Code8 bytes) { return World({joined(std::move(bytes), nops(12))}).plan(0); };
  for (const Code8& bytes : std::vector<Code8>{{0x0f, 0x05},          // syscall
                                               {0x0f, 0x34},          // sysenter
                                               {0xcd, 0x80},          // int 0x80
                                               {0xcc},                // int3
                                               {0xf4},                // hlt
                                               {0x0f, 0x0b},          // ud2
                                               {0xc7, 0xf8, 0, 0, 0, 0},      // xbegin
                                               {0xff, 0x54, 0x24, 0xf8}}) {   // call [rsp-8]
    EXPECT_EQ(plan(bytes).kind, Kind::Trap);
    EXPECT_NE(plan(bytes).why, "");
    // Nor in the middle of others.
    World world({joined(joined(kPush, bytes), nops(12))});
    EXPECT_NE(world.plan(0).kind, Kind::Several);
    for (const Jump& jump : world.plan(0).jumps)
      for (const Moved& moved : jump.moved) EXPECT_NE(moved.address, kAt + 1);
  }
}

TEST(Planner, AJumpIntoAnInstruction) {
  // je over the lock prefix of `lock add [rdi], rax`: only that one byte may be written
  World world({joined({0x74, 0x01, 0xf0, 0x48, 0x01, 0x07}, joined(kMov, kRet))});
  const Plan plan = world.add(2);
  EXPECT_TRUE(plan.is_pad());
  const Code8 bytes = patched(world);
  EXPECT_EQ((Code8{bytes[3], bytes[4], bytes[5]}), (Code8{0x48, 0x01, 0x07}));
  expect_sound(world, plan);
}

TEST(Planner, AnEndbrStays) {
  const Code8 endbr = {0xf3, 0x0f, 0x1e, 0xfa};
  World world({joined(endbr, joined(kMov, kRet))});
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Direct);
  EXPECT_EQ(plan.jumps[0].at, kAt + 4);
  EXPECT_EQ(plan.jumps[0].moved, (std::vector<Moved>{{kAt + 4, 5}}));
  // The site behind it is in that pad already.
  const Plan rider = world.add(4);
  EXPECT_EQ(rider.kind, Kind::Rider);
  EXPECT_EQ(rider.host, kAt);
  // Its copy has two slots ahead of it then.
  const Code8 slot(kSlotBytes, 0x90);
  EXPECT_TRUE(emit(world.code, plan, 0, std::vector<Slot>{{kAt, slot}, {kAt + 4, slot}}).ok());
  // Others come to what is behind it, too: those must not count.
  World entered({joined(endbr, joined(kMov, {0xeb, 0xf9}))});
  EXPECT_EQ(entered.plan(0).kind, Kind::Trap);
  // And an endbr64 among several is a place that is entered.
  World among({joined(kPush, joined(endbr, kMov))});
  EXPECT_NE(among.plan(0).kind, Kind::Several);
}

TEST(Planner, PadsAreNearWhatTheirInstructionsName) {
  // mov rax, [rip - 2 GiB + 0x1000]
  Code8 bytes = {0x48, 0x8b, 0x05, 0, 0x10, 0, 0x80};
  World world({joined(bytes, kRet)});
  const Plan plan = world.add(0);
  ASSERT_EQ(plan.kind, Kind::Direct);
  EXPECT_LT(plan.jumps[0].pad, kAt + 0x1000);
  expect_sound(world, plan);
}

TEST(Planner, NoRoomIsATrap) {
  World world({joined(kMov, kRet)}, PadSpace({{0, PadSpace::kHighest}}));
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Trap);
  EXPECT_EQ(patched(world)[0], 0xcc);
}

TEST(Planner, MemoryThatCannotBeHad) {
  World world({joined(kMov, kRet)});
  const uint64_t first = world.plan(0).jumps[0].pad;
  world.patches.space().refuse({first, first + 1});
  const Plan plan = world.add(0);
  EXPECT_EQ(plan.kind, Kind::Direct);
  EXPECT_NE(plan.jumps[0].pad / PadSpace::kPageBytes, first / PadSpace::kPageBytes);
}

TEST(Planner, WhatIsKept) {
  Program program{joined(kMov, joined(kMov, kRet))};
  program.kept = {{kAt + 5, kAt + 10}};
  World world(program);
  EXPECT_EQ(world.plan(0).kind, Kind::Direct);
  EXPECT_EQ(world.plan(5).kind, Kind::Trap);
}

TEST(Planner, PlacesThatAreNone) {
  World world({joined(kMov, kRet)});
  EXPECT_EQ(world.plan(1).kind, Kind::Trap);  // who says so may know better
  EXPECT_EQ(world.plan(100).kind, Kind::None);
}

}  // namespace
}  // namespace tracewell::pads
