// The course of an experiment: definitions, runs, and why they end.
#include <string>
#include <vector>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/engine/engine.h"

#include "engine_world.h"

namespace tracewell::agent::test {
namespace {

using Engines = EngineTest;

constexpr std::string_view kTrue = "X3,220127";       // const8 1
constexpr std::string_view kFalse = "X3,220027";      // const8 0
constexpr std::string_view kDivide = "X6,220122000527";  // 1 / 0

std::string with_condition(std::string_view condition) {
  return "1:1000:E:0:0:" + std::string(condition);
}

target::StopEvent event(target::StopEvent::Kind kind, target::Pid pid) {
  target::StopEvent event;
  event.kind = kind;
  event.pid = pid;
  return event;
}

/// Of a frame with the registers of this world, three words of which are not zero: its head, a
/// letter, a byte that says which words, and two bytes to make it a multiple of 4.
constexpr uint64_t kFrameBytes = 24 + 1 + 1 + 3 * 8 + 2;

TEST_F(Engines, StatusBeforeAnyRun) {
  const RunStatus status = engine.status();
  EXPECT_FALSE(status.running);
  EXPECT_EQ(status.stop, Stop::NotRun);
  EXPECT_EQ(status.buffer_size, 0x500000u);
  EXPECT_EQ(status.buffer_free, 0x500000u);
  EXPECT_EQ(status.frames, 0u);
}

TEST_F(Engines, HitsAndBytesAreCounted) {
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:R0f").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(world.sites, std::set<uint64_t>{0x1000});
  for (int i = 0; i < 16; ++i) EXPECT_EQ(hit(), Next::Continue);
  EXPECT_EQ(engine.usage(1, 0x1000)->hits, 16u);
  EXPECT_EQ(engine.usage(1, 0x1000)->bytes, 16u * kFrameBytes);
  EXPECT_EQ(engine.usage(1, 0x1001), std::nullopt);
  EXPECT_EQ(engine.status().frames, 16u);
  ASSERT_TRUE(engine.stop().ok());
  EXPECT_TRUE(world.sites.empty());
  hit();
  EXPECT_EQ(engine.status().frames, 16u) << "a thread that was on its way when the run ended";
}

TEST_F(Engines, ConditionsDecide) {
  ASSERT_TRUE(define(with_condition(kFalse)).ok());
  ASSERT_TRUE(define("2:1000:E:0:0:" + std::string(kTrue)).ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.usage(1, 0x1000)->hits, 0u);
  EXPECT_EQ(engine.usage(2, 0x1000)->hits, 1u);
  EXPECT_EQ(engine.status().frames, 1u);
}

TEST_F(Engines, FailingConditionEndsTheRun) {
  ASSERT_TRUE(define(with_condition(kDivide)).ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  const RunStatus status = engine.status();
  EXPECT_FALSE(status.running);
  EXPECT_EQ(status.stop, Stop::Failed);
  EXPECT_EQ(status.stop_text, "divide by zero");
  EXPECT_EQ(status.stop_tracepoint, 1u);
  EXPECT_EQ(status.frames, 0u);
}

TEST_F(Engines, EndlessExpressionEndsTheRun) {
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:" + expression("21000027")).ok());  // goto 0, end
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.status().stop_text, "instruction budget exceeded");
}

TEST_F(Engines, ConditionCannotRecord) {
  // const8 1, const8 1, const8 1, trace, end
  ASSERT_TRUE(define(with_condition("X8,2201220122010c27")).ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.status().stop_text, "value not recorded");
}

TEST_F(Engines, AllTracepointsOfAPlaceInTheOrderOfDefinition) {
  for (int number : {3, 1, 2}) ASSERT_TRUE(define(fmt::format("{}:1000:E:0:0", number)).ok());
  ASSERT_TRUE(define("4:0f00:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  std::vector<int> order;
  for (uint64_t i = 0; i < 3; ++i) order.push_back(engine.frames().frame(i)->tracepoint);
  EXPECT_EQ(order, (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(engine.tracepoints().front().number, 4u) << "by address";
}

TEST_F(Engines, PassCountEndsTheRunWithItsFrame) {
  ASSERT_TRUE(define("1:1000:E:0:3").ok());
  ASSERT_TRUE(define("2:1000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  for (int i = 0; i < 5; ++i) hit();
  const RunStatus status = engine.status();
  EXPECT_EQ(status.stop, Stop::PassCount);
  EXPECT_EQ(status.stop_tracepoint, 1u);
  EXPECT_EQ(status.frames, 6u) << "the others at the place still get their frame";
}

TEST_F(Engines, BufferFullEndsTheRunAtOnce) {
  ASSERT_TRUE(engine.set_buffer_size(110).ok());
  trace("R0f");
  for (int i = 0; i < 5; ++i) hit();
  const RunStatus status = engine.status();
  EXPECT_EQ(status.stop, Stop::BufferFull);
  EXPECT_EQ(status.frames, 2u);
  EXPECT_EQ(status.frames_created, 2u);
  EXPECT_EQ(status.buffer_free, 110u - 2 * kFrameBytes);
  EXPECT_TRUE(world.sites.empty());
}

TEST_F(Engines, CircularBufferKeepsTheLast) {
  ASSERT_TRUE(engine.set_buffer_size(110).ok());
  ASSERT_TRUE(engine.set_circular(true).ok());
  trace("R0f");
  for (int i = 0; i < 9; ++i) hit();
  EXPECT_TRUE(engine.status().running);
  EXPECT_EQ(engine.status().frames, 2u);
  EXPECT_EQ(engine.status().frames_created, 9u);
  EXPECT_EQ(engine.usage(1, 0x1000)->bytes, 9u * kFrameBytes) << "never decreased";
}

TEST_F(Engines, ReasonsHaveAnOrder) {
  ASSERT_TRUE(engine.set_buffer_size(0).ok());
  ASSERT_TRUE(define("1:1000:E:0:0:" + std::string(kDivide)).ok());
  ASSERT_TRUE(define("2:1000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.status().stop, Stop::BufferFull);
  ASSERT_TRUE(define("2:1000:E:0:1").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(engine.status().stop, Stop::PassCount);
}

TEST_F(Engines, StepsMakeFramesOfTheirOwn) {
  world.fill(0x5000, "s");
  ASSERT_TRUE(define("3:1000:E:3:1-").ok());
  ASSERT_TRUE(define("-3:1000:R0f-").ok());
  ASSERT_TRUE(define("-3:1000:SM-1,5000,1").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(hit(), Next::Step);
  EXPECT_EQ(step(0x1001), Next::Step);
  EXPECT_EQ(step(0x1004), Next::Step);
  EXPECT_EQ(engine.status().stop, Stop::NotRun) << "the pass count waits for the last step";
  EXPECT_EQ(step(0x1007), Next::Continue);
  EXPECT_EQ(engine.status().stop, Stop::PassCount);
  EXPECT_EQ(engine.status().frames, 4u);
  EXPECT_EQ(blocks(0), "R");
  EXPECT_EQ(blocks(3), "M5000:73");
  EXPECT_EQ(engine.frames().frame(2)->pc, 0x1004u);
  EXPECT_EQ(engine.usage(3, 0x1000)->hits, 1u);
  EXPECT_EQ(engine.usage(3, 0x1000)->bytes, kFrameBytes + 3 * 44);
}

TEST_F(Engines, SeveralJobsOfOneThread) {
  ASSERT_TRUE(define("1:1000:E:2:0").ok());
  ASSERT_TRUE(define("2:1001:E:2:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(hit(0x1000), Next::Step);
  EXPECT_EQ(step(0x1001), Next::Step);
  EXPECT_EQ(hit(0x1001), Next::Step) << "stepping into another tracepoint is a hit";
  EXPECT_EQ(hit(0x1000, 99), Next::Step) << "another thread has its own steps";
  EXPECT_EQ(step(0x1002), Next::Step);
  EXPECT_EQ(step(0x1003), Next::Continue);
  std::vector<int> order;
  for (uint64_t i = 0; i < engine.frames().count(); ++i)
    order.push_back(engine.frames().frame(i)->tracepoint);
  EXPECT_EQ(order, (std::vector<int>{1, 1, 2, 1, 2, 1, 2})) << "the newest job first";
}

TEST_F(Engines, StepsEndWithTheirThread) {
  ASSERT_TRUE(define("1:1000:E:5:2").ok());
  ASSERT_TRUE(define("2:2000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  for (target::Tid tid : {98, 99}) {
    EXPECT_EQ(hit(0x1000, tid), Next::Step);
    EXPECT_EQ(step(0x1001, tid), Next::Step);
    EXPECT_EQ(engine.status().stop, Stop::NotRun);
    engine.on_end(tid);
    // Another thread may get the number.
    EXPECT_EQ(hit(0x2000, tid), Next::Continue);
  }
  EXPECT_EQ(engine.status().stop, Stop::PassCount) << "no step is left to wait for";
  EXPECT_EQ(engine.status().frames, 5u) << "what ended the run came before the last hit";
}

TEST_F(Engines, EndOfTheProcessIsNotWhyARunEnds) {
  ASSERT_TRUE(define("1:1000:E:5:1").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(hit(), Next::Step);
  engine.on_end(kPid);
  engine.on_event(event(target::StopEvent::Kind::Exited, kPid));
  EXPECT_EQ(engine.status().stop, Stop::PassCount);
}

TEST_F(Engines, DisabledTracepointsAreInPlace) {
  ASSERT_TRUE(define("1:1000:D:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(world.sites.size(), 1u);
  hit();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(engine.enable(1, 0x1000, true).ok());
  hit();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(engine.enable(1, 0x1000, false).ok());
  hit();
  EXPECT_EQ(engine.status().frames, 1u);
  EXPECT_FALSE(engine.enable(1, 0x1001, true).ok());
}

TEST_F(Engines, StartIsAllOrNothing) {
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  ASSERT_TRUE(define("2:2000:E:0:0").ok());
  world.refused_site = 0x2000;
  const Status status = engine.start(kPid);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "tracepoint 2 at 0x2000: no memory there");
  EXPECT_TRUE(world.sites.empty());
  EXPECT_FALSE(engine.running());
  EXPECT_EQ(engine.status().stop, Stop::NotRun);
}

TEST_F(Engines, BadCodeIsRefusedAndForgotten) {
  const Status unknown = define(with_condition("X2,ff27"));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "tracepoint 1 at 0x1000: unrecognized opcode at byte 0 (opcode 0xff) of its condition");
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  const Status branch = define("-1:1000:M-1,0,4X00000003,210077");
  EXPECT_FALSE(branch.ok());
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  const Status cut = define("-1:1000:X00000001,23");
  EXPECT_NE(cut.error().message.find("const16"), std::string::npos) << cut.error().message;
  EXPECT_TRUE(engine.tracepoints().empty()) << "nothing is kept half";
}

TEST_F(Engines, NumbersThatFramesCannotName) {
  EXPECT_FALSE(define("0:1000:E:0:0").ok());
  EXPECT_FALSE(define("8000:1000:E:0:0").ok());
  EXPECT_TRUE(define("7fff:1000:E:0:0").ok());
  EXPECT_FALSE(define("1:1000:E:0:0:F5").ok()) << "not announced";
}

TEST_F(Engines, ActionsOfNothing) {
  EXPECT_FALSE(define("-1:1000:R0f").ok());
  EXPECT_FALSE(engine.add_source({1, 0x1000, "at", 0, 1, "x"}).ok());
}

TEST_F(Engines, LiveOnlyWithTheLastPacket) {
  ASSERT_TRUE(engine.start(kPid).ok());
  world.fill(0x5000, "abc");
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:R0f-").ok());
  ASSERT_TRUE(define("-1:1000:M-1,5000,1-").ok());
  EXPECT_TRUE(world.sites.empty());
  hit();
  EXPECT_EQ(engine.status().frames, 0u);
  ASSERT_TRUE(define("-1:1000:M-1,5001,2").ok());
  EXPECT_EQ(world.sites.size(), 1u);
  EXPECT_EQ(engine.usage(1, 0x1000)->hits, 0u);
  hit();
  EXPECT_EQ(blocks(0), "R M5000:61 M5001:6263");
}

TEST_F(Engines, AnnouncedActionsMayNotCome) {
  ASSERT_TRUE(engine.start(kPid).ok());
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(engine.add_source({1, 0x1000, "at", 0, 1, "f"}).ok());
  EXPECT_EQ(world.sites.size(), 1u);
  ASSERT_TRUE(define("2:2000:E:0:0-").ok());
  ASSERT_TRUE(define("3:3000:E:0:0").ok());
  EXPECT_EQ(world.sites.size(), 3u);
}

TEST_F(Engines, DefinitionSentAgainDuringARun) {
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:R0f").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  hit();
  EXPECT_EQ(engine.status().frames, 2u) << "the old one lives until the new one is whole";
  ASSERT_TRUE(define("-1:1000:R0f").ok());
  EXPECT_EQ(engine.usage(1, 0x1000)->hits, 2u) << "the same: counting goes on";
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  EXPECT_EQ(engine.usage(1, 0x1000)->hits, 0u) << "another: from 0";
  EXPECT_EQ(engine.tracepoints().size(), 1u);
  hit();
  EXPECT_EQ(blocks(2), "");
}

TEST_F(Engines, SiteThatCannotBeInsertedDuringARun) {
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  world.refused_site = 0x2000;
  EXPECT_FALSE(define("2:2000:E:0:0").ok());
  EXPECT_EQ(engine.tracepoints().size(), 1u);
  EXPECT_TRUE(engine.running());
}

TEST_F(Engines, SourcesAreJoined) {
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  ASSERT_TRUE(engine.add_source({1, 0x1000, "at", 0, 9, "file."}).ok());
  ASSERT_TRUE(engine.add_source({1, 0x1000, "at", 5, 9, "c:10"}).ok());
  ASSERT_EQ(engine.tracepoints()[0].sources.size(), 1u);
  EXPECT_EQ(engine.tracepoints()[0].sources[0].text, "file.c:10");
}

TEST_F(Engines, VariablesSurviveRunsButNotReset) {
  ASSERT_TRUE(engine.define_variable({2, -1, false, "tv"}).ok());
  trace(expression("2c0002220202" "2d00022927"));  // tv += 2
  hit();
  ASSERT_TRUE(engine.stop().ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(engine.variable(2), 1);
  ASSERT_TRUE(engine.reset().ok());
  EXPECT_EQ(engine.variable(2), std::nullopt);
  EXPECT_EQ(engine.variable(1), now_ns / 1000);
  ASSERT_EQ(engine.variables().size(), 3u);
}

TEST_F(Engines, TimesAndNotes) {
  engine.set_note("user", "me");
  engine.set_note("notes", "why");
  engine.set_note("colour", "blue");
  ASSERT_TRUE(engine.start(kPid).ok());
  now_ns += 5'000'000;
  ASSERT_TRUE(engine.stop().ok());
  engine.set_note("tstop", "bye");
  RunStatus status = engine.status();
  EXPECT_EQ(status.stop, Stop::Requested);
  EXPECT_EQ(status.stop_text, "bye");
  EXPECT_EQ(status.user_name, "me");
  EXPECT_EQ(status.notes, "why");
  EXPECT_EQ(status.start_time_us, 1'600'000'000'123'456u);
  EXPECT_EQ(status.stop_time_us, 1'600'000'000'128'456u);
  ASSERT_TRUE(engine.start(kPid).ok());
  status = engine.status();
  EXPECT_EQ(status.stop_time_us, 0u) << "not that of the run before";
  ASSERT_TRUE(engine.stop().ok());
  EXPECT_EQ(engine.status().stop_text, "");
}

TEST_F(Engines, ClientLost) {
  ASSERT_TRUE(engine.start(kPid).ok());
  engine.set_disconnected(true);
  engine.client_lost();
  EXPECT_TRUE(engine.running());
  engine.set_disconnected(false);
  engine.client_lost();
  EXPECT_EQ(engine.status().stop, Stop::Disconnected);
}

TEST_F(Engines, EndOfTheProcessEndsTheRunAndKeepsIt) {
  using Kind = target::StopEvent::Kind;
  trace("R0f");
  hit();
  engine.on_event(event(Kind::Exited, 8));
  EXPECT_TRUE(engine.running()) << "another process";
  world.alive = false;
  engine.on_event(event(Kind::Exited, kPid));
  EXPECT_EQ(engine.status().stop, Stop::Unknown);
  EXPECT_EQ(blocks(0), "R");
  EXPECT_EQ(engine.frames().stream_bytes(), 47u);
  EXPECT_EQ(engine.catalog().tracepoints.size(), 1u);
}

TEST_F(Engines, ExecEndsTheRun) {
  ASSERT_TRUE(engine.start(kPid).ok());
  engine.on_event(event(target::StopEvent::Kind::Exec, kPid));
  EXPECT_EQ(engine.status().stop, Stop::Unknown);
}

/// What is at the tracepoints' addresses then is another program's.
TEST_F(Engines, ExecThatNobodyIsToldOfEndsTheRun) {
  trace("R0f");
  hit();
  engine.on_exec(8);
  EXPECT_FALSE(engine.on_tick());
  EXPECT_TRUE(engine.running()) << "another process";
  engine.on_exec(kPid);
  world.sites.clear();
  EXPECT_FALSE(define("2:1010:E:0:0").ok());
  EXPECT_TRUE(world.sites.empty());
  EXPECT_FALSE(engine.on_tick());
  EXPECT_FALSE(engine.running());
  hit();
  EXPECT_EQ(engine.status().stop, Stop::Unknown);
  EXPECT_EQ(engine.status().stop_text, "the program replaced itself by exec");
  EXPECT_EQ(engine.status().frames, 1u);
  ASSERT_TRUE(engine.start(kPid).ok()) << "the other program may be traced";
  EXPECT_FALSE(world.sites.empty());
  EXPECT_FALSE(engine.on_tick());
  EXPECT_TRUE(engine.running());
}

TEST_F(Engines, BufferSizes) {
  ASSERT_TRUE(engine.set_buffer_size(0).ok());
  ASSERT_TRUE(define("1:1000:E:0:0").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_FALSE(engine.set_buffer_size(100).ok());
  hit();
  EXPECT_EQ(engine.status().stop, Stop::BufferFull);
  ASSERT_TRUE(engine.set_buffer_size(std::nullopt).ok());
  EXPECT_EQ(engine.status().buffer_size, 0x500000u);
  EXPECT_FALSE(engine.set_buffer_size(UINT64_MAX).ok());
  EXPECT_EQ(engine.status().buffer_size, 0x500000u);
}

TEST_F(Engines, ReadOnlyRangesEndExclusively) {
  engine.set_read_only({{0x400000, 0x401000}});
  EXPECT_TRUE(engine.read_only(kPid, 0x400ff0, 16));
  EXPECT_FALSE(engine.read_only(kPid, 0x400ff0, 17));
  EXPECT_FALSE(engine.read_only(kPid, 0x400ff0, UINT64_MAX));
  EXPECT_FALSE(engine.read_only(kPid, 0x3fffff, 2));
}

TEST_F(Engines, ResetStopsARun) {
  trace("R0f");
  hit();
  ASSERT_TRUE(engine.reset().ok());
  EXPECT_FALSE(engine.running());
  EXPECT_TRUE(world.sites.empty());
  EXPECT_TRUE(engine.tracepoints().empty());
  EXPECT_EQ(engine.status().frames, 0u);
  EXPECT_EQ(engine.status().frames_created, 0u);
}

}  // namespace
}  // namespace tracewell::agent::test
