// What a hit puts into its frame.
#include <string>

#include <gtest/gtest.h>

#include "engine_world.h"

namespace tracewell::agent::test {
namespace {

using EngineCollect = EngineTest;

TEST_F(EngineCollect, NothingWithoutActions) {
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.frames().count(), 1u);
  EXPECT_EQ(engine.frames().stream_bytes(), 6u);
}

TEST_F(EngineCollect, BlocksStandInTheOrderOfTheActions) {
  world.fill(0x5000, "abcdef");
  trace("M-1,5000,2R0fM-1,5004,2");
  hit();
  EXPECT_EQ(blocks(0), "M5000:6162 R M5004:6566");
}

TEST_F(EngineCollect, RegisterBlockIsWholeAndReadOnce) {
  trace("R01R02");
  Hit context(world, 0x1000);
  engine.on_hit(context);
  EXPECT_EQ(context.register_reads, 1);
  auto frame = engine.frames().frame(0);
  ASSERT_EQ(frame->blocks.size(), 1u);
  const Bytes block = frame->blocks[0].bytes;
  EXPECT_EQ(load_uint(block.data(), 8, Endian::Little), 0x1111u);
  EXPECT_EQ(load_uint(block.data() + 32, 8, Endian::Little), 0x1000u) << "the tracepoint's place";
}

TEST_F(EngineCollect, AllMemoryOfAHitIsReadAtOnce) {
  world.fill(0x5000, "0123456789");
  // const16 0x5000, trace_quick 4, const16 2, add, const8 3, trace, end
  trace("M-1,5008,2" + expression("2350000d04230002022203" "0c27"));
  Hit context(world, 0x1000);
  engine.on_hit(context);
  EXPECT_EQ(context.memory_reads, 1);
  EXPECT_EQ(blocks(0), "M5008:3839 M5000:30313233 M5002:323334");
}

TEST_F(EngineCollect, BaseRegisterAndNegativeOffset) {
  world.fill(0x1ff8, "negative");
  trace("M1,fffffffffffffff8,8");  // r1 is 0x2000
  hit();
  EXPECT_EQ(blocks(0), "M1ff8:" + to_hex("negative"));
}

TEST_F(EngineCollect, BaseRegisterThatIsNoneEndsTheRun) {
  trace("M7F,0,8");
  hit();
  EXPECT_EQ(engine.status().stop, Stop::Failed);
  EXPECT_EQ(engine.status().stop_text, "register access error");
}

TEST_F(EngineCollect, LongRangesAreSplit) {
  world.fill(0x10000, std::string(70000, 'x'));
  trace("M-1,10000,11170");
  hit();
  auto frame = engine.frames().frame(0);
  ASSERT_EQ(frame->blocks.size(), 2u);
  EXPECT_EQ(frame->blocks[0].bytes.size(), 65535u);
  EXPECT_EQ(frame->blocks[1].address, 0x10000u + 65535);
  EXPECT_EQ(frame->blocks[1].bytes.size(), 4465u);
}

TEST_F(EngineCollect, UnreadableMemoryIsCutAndEndsTheRun) {
  world.fill(0x5000, "abc");
  world.fill(0x6000, "tail");
  trace("M-1,5000,8M-1,0,4M-1,6000,4");
  hit();
  EXPECT_EQ(blocks(0), "M5000:616263 M6000:7461696c");
  const RunStatus status = engine.status();
  EXPECT_FALSE(status.running);
  EXPECT_EQ(status.stop, Stop::Failed);
  EXPECT_EQ(status.stop_text, "memory access error at 0x5003");
  EXPECT_EQ(status.stop_tracepoint, 1u);
  EXPECT_TRUE(world.sites.empty());
  EXPECT_EQ(engine.usage(1, 0x1000)->bytes, 24u + 14 + 15 + 3);
}

TEST_F(EngineCollect, NothingBehindACutOfTheSameRange) {
  world.fill(0x10000, std::string(100, 'a'));
  world.fill(0x10000 + 65535, std::string(100, 'b'));
  trace("M-1,10000,10063");
  hit();
  EXPECT_EQ(blocks(0), "M10000:" + to_hex(std::string(100, 'a')));
}

TEST_F(EngineCollect, StringsEndAtTheirZero) {
  world.fill(0x5000, std::string("hello\0junk", 10));
  world.fill(0x7000, std::string(400, 'y') + '\0');
  // const16 address, const16 size, tracenz, end
  trace(expression("2350002300142f27") + expression("2370002300142f27") +
        expression("2370002308002f27"));
  hit();
  EXPECT_EQ(blocks(0), "M5000:68656c6c6f00 M7000:" + to_hex(std::string(20, 'y')) + " M7000:" +
                           to_hex(std::string(400, 'y') + '\0'));
}

TEST_F(EngineCollect, StringThatRunsIntoNothing) {
  world.fill(0x5000, "hel");
  trace(expression("2350002300142f27"));
  hit();
  EXPECT_EQ(blocks(0), "M5000:68656c");
  EXPECT_EQ(engine.status().stop_text, "memory access error at 0x5003");
}

// Blocks must stand where a debugger of a 32-bit program asks for them.
TEST_F(EngineCollect, AddressesOfA32BitProgramLeaveOutTheCarry) {
  world.become_32_bit();
  world.fill(0x1004, "base");
  world.fill(0x5000, "carry");
  // r1 is 0x2000: less 0xffc in 32 bits, and in 64. The same with the carry that 64 bits have:
  // reg 1, const32 0xfffff004, add, const8 1, trace, end
  trace("M1,fffff004,4M1,fffffffffffff004,4M-1,700005000,2" +
        expression("26000124fffff0040222010c27"));
  hit();
  EXPECT_EQ(blocks(0), "M1004:62617365 M1004:62617365 M5000:6361 M1004:62");
  EXPECT_TRUE(engine.status().running);
}

TEST_F(EngineCollect, MemoryOfA32BitProgramGoesOnAtItsBeginning) {
  world.become_32_bit();
  world.fill(0xfffffffd, std::string("endbeg\0", 7));
  // const32 0xfffffffd, const16 20, tracenz, end
  trace("R0fM-1,fffffffd,5" + expression("24fffffffd2300142f27") + "M-1,ffffffff,9");
  hit();
  EXPECT_EQ(blocks(0), "R Mfffffffd:656e64 M0:6265 Mfffffffd:656e64 M0:62656700 "
                       "Mffffffff:64 M0:62656700");
  EXPECT_EQ(engine.status().stop_text, "memory access error at 0x4");
}

TEST_F(EngineCollect, MemoryOfA64BitProgramMayEndWithTheLastByte) {
  world.fill(0xfffffffffffffffe, "xy");
  world.fill(0xffffffff, "zz");
  trace("M-1,fffffffffffffffe,2M-1,ffffffff,2");
  hit();
  EXPECT_EQ(blocks(0), "Mfffffffffffffffe:7879 Mffffffff:7a7a");
}

TEST_F(EngineCollect, PointerAndWhatItPointsTo) {
  world.fill(0x5000, std::string("\0\x60\0\0\0\0\0\0", 8));
  world.fill(0x6000, "P");
  // const16 0x5000, trace_quick 8, ref64, const8 1, trace, end
  trace(expression("2350000d081a22010c27"));
  hit();
  EXPECT_EQ(blocks(0), "M5000:0060000000000000 M6000:50");
}

TEST_F(EngineCollect, LaterActionsAreDoneAfterAFault) {
  world.fill(0x5000, "ab");
  world.fill(0x5100, "cd");
  // const8 1, const8 0, div_signed, end
  trace("M-1,5000,2" + expression("220122000527") + "M-1,5100,2");
  hit();
  EXPECT_EQ(blocks(0), "M5000:6162 M5100:6364");
  EXPECT_EQ(engine.status().stop, Stop::Failed);
  EXPECT_EQ(engine.status().stop_text, "divide by zero");
}

TEST_F(EngineCollect, VariablesAreRecordedAsTheyAreThen) {
  ASSERT_TRUE(engine.define_variable({2, 5, false, "tv"}).ok());
  // tracev 2, getv 2, const8 1, add, setv 2, tracev 2, pop, end
  trace(expression("2e00022c000222010" "22d00022e00022927"));
  hit();
  hit();
  EXPECT_EQ(blocks(0), "V2=5 V2=6");
  EXPECT_EQ(blocks(1), "V2=6 V2=7");
  EXPECT_EQ(engine.variable(2), 7);
}

TEST_F(EngineCollect, UnknownVariablesAreCreatedAtZero) {
  trace(expression("2e000927"));
  EXPECT_EQ(engine.variable(9), 0);
  EXPECT_EQ(engine.variable(10), std::nullopt);
  hit();
  EXPECT_EQ(blocks(0), "V9=0");
  EXPECT_EQ(engine.variables().size(), 3u) << "it has no name to be listed by";
}

TEST_F(EngineCollect, TimestampIsUnixMicroseconds) {
  ASSERT_TRUE(engine.define_variable({1, 0, true, "trace_timestamp"}).ok());
  trace(expression("22052d0001" "2e000127"));  // const8 5, setv 1, tracev 1, end
  hit();
  EXPECT_EQ(blocks(0), "V1=1600000000123456");
  EXPECT_EQ(engine.variables().at(0).name, "trace_timestamp");
}

TEST_F(EngineCollect, BuiltinVariablesGoByTheDebuggersNumbers) {
  // GDB has a variable of its own with number 1, and names the builtin ones behind it.
  ASSERT_TRUE(engine.define_variable({1, -3, false, "mine"}).ok());
  ASSERT_TRUE(engine.define_variable({2, 0, true, "trace_timestamp"}).ok());
  ASSERT_TRUE(engine.define_variable({3, 0, true, "trace_thread"}).ok());
  trace(expression("2e00012e00022e000327"));  // tracev 1, 2, 3, end
  hit();
  EXPECT_EQ(blocks(0), "V1=-3 V2=1600000000123456 V3=" + std::to_string(kPid));
  EXPECT_EQ(engine.variable(2), now_ns / 1000);
  EXPECT_EQ(engine.variable(3), std::nullopt) << "nobody hits now";
  EXPECT_EQ(engine.variables().size(), 4u);
  // One that an expression spoke of first is no cell for that.
  Variables variables;
  uint64_t cells[4] = {};
  variables.mention(9);
  variables.live_in(cells);
  EXPECT_EQ(variables.cell(9), 0u);
  variables.define({9, 0, true, "trace_cpu"});
  EXPECT_EQ(variables.cell(9), std::nullopt);
}

TEST_F(EngineCollect, TracevPushesNothing) {
  ASSERT_TRUE(engine.define_variable({2, 3, false, "a"}).ok());
  ASSERT_TRUE(engine.define_variable({3, 4, false, "b"}).ok());
  // getv 2, tracev 2, getv 3, tracev 3, add, setv 2, pop, end
  trace(expression("2c00022e00022c00032e0003022d00022927"));
  hit();
  EXPECT_EQ(engine.variable(2), 7);
}

TEST_F(EngineCollect, AskingForMoreThanTheBufferReadsNothing) {
  ASSERT_TRUE(engine.set_buffer_size(1000).ok());
  trace("M-1,0,FFFFFFFFFFFFFFFF");
  Hit context(world, 0x1000);
  engine.on_hit(context);
  EXPECT_EQ(context.memory_reads, 0);
  EXPECT_EQ(engine.frames().count(), 0u);
  EXPECT_EQ(engine.status().stop, Stop::BufferFull);
}

TEST_F(EngineCollect, HugeFramesAreNotTried) {
  ASSERT_TRUE(engine.set_buffer_size(uint64_t{1} << 30).ok());
  trace("M-1,0,10000000");
  Hit context(world, 0x1000);
  engine.on_hit(context);
  EXPECT_EQ(context.memory_reads, 0);
  EXPECT_EQ(engine.status().stop, Stop::BufferFull);
}

TEST_F(EngineCollect, ThreadAndTimeAreKept) {
  trace("R0f");
  hit(0x1000, 77);
  EXPECT_EQ(engine.buffer().record(0).tid, 77);
  EXPECT_EQ(engine.buffer().record(0).time_ns, now_ns);
}

TEST_F(EngineCollect, CatalogDescribesTheTrace) {
  trace("R0f");
  hit();
  const Catalog catalog = engine.catalog();
  EXPECT_EQ(catalog.machine, "x86-64");
  EXPECT_EQ(catalog.registers.size_bytes, 40u);
  ASSERT_EQ(catalog.tracepoints.size(), 1u);
  EXPECT_EQ(catalog.tracepoints[0].usage->hits, 1u);
  EXPECT_EQ(catalog.tracepoints[0].usage->bytes, 52u);
  EXPECT_TRUE(catalog.status->running);
  ASSERT_EQ(catalog.processes.size(), 1u);
  EXPECT_EQ(catalog.processes[0].pid, static_cast<uint32_t>(kPid));
}

TEST_F(EngineCollect, FramesAreOfOneProcessOrOfNobody) {
  trace("R0f");
  hit();
  ASSERT_TRUE(engine.stop().ok());
  // The buffer still has the frames of the one before.
  world.others = {{kPid + 1, true}};
  ASSERT_TRUE(engine.start(kPid + 1).ok());
  EXPECT_TRUE(engine.catalog().processes.empty());
  ASSERT_TRUE(engine.stop().ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_TRUE(engine.catalog().processes.empty());
  // A debugger empties it before each run.
  ASSERT_TRUE(engine.reset().ok());
  trace("R0f");
  ASSERT_EQ(engine.catalog().processes.size(), 1u);
  // A child that has its memory.
  Hit childs(world, 0x1000, kPid + 2);
  childs.of = kPid + 2;
  engine.on_hit(childs);
  EXPECT_TRUE(engine.catalog().processes.empty());
}

}  // namespace
}  // namespace tracewell::agent::test
