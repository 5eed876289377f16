// Which registers a frame has: those that its tracepoint's actions asked for, and the pc.
#include <string>

#include <gtest/gtest.h>

#include "agent/buffer/trace_source.h"
#include "engine_world.h"

namespace tracewell::agent::test {
namespace {

class EngineMasks : public EngineTest {
 protected:
  /// "r0 pc" of a frame; "all" without a mask.
  std::string registers(uint64_t number) {
    const auto frame = engine.frames().frame(number);
    if (!frame) return frame.error().text();
    if (frame->registers_valid.empty()) return "all";
    std::string out;
    for (uint32_t i = 0; i < world.layout(kPid).registers.size(); ++i)
      if (register_valid(*frame, i)) out += " " + world.layout(kPid).registers[i].name;
    return out.empty() ? out : out.substr(1);
  }
};

TEST_F(EngineMasks, OfAllActionsTogetherAndThePc) {
  trace("R01R02");
  hit();
  EXPECT_EQ(registers(0), "r0 r1 pc");
}

TEST_F(EngineMasks, AllRegistersNeedNoMask) {
  trace("R07");  // pc, the fourth, is there in any case
  hit();
  EXPECT_EQ(registers(0), "all");
}

TEST_F(EngineMasks, MayNameRegistersThatAreNotThere) {
  trace("Rffffffffffffffffffffffffffff07");
  hit();
  EXPECT_EQ(registers(0), "all");
  ASSERT_TRUE(engine.stop().ok());
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:Rf0000000004").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  hit();
  EXPECT_EQ(registers(1), "v2 pc");
}

TEST_F(EngineMasks, OfNothingLeaveThePc) {
  trace("R0");
  hit();
  EXPECT_EQ(registers(0), "pc");
}

TEST_F(EngineMasks, DoNotKeepExpressionsAndBasesFromReading) {
  world.fill(0x2000, "based");
  // reg 1 (0x2000), const8 5, trace, end; the mask names r0 only
  trace("R01M1,0,4" + expression("26000122050c27"));
  hit();
  EXPECT_EQ(registers(0), "r0 pc");
  EXPECT_EQ(blocks(0), "R M2000:" + to_hex("base") + " M2000:" + to_hex("based"));
}

// GDB's own tests collect `*$rsp`, and then unwind by the frame pointer.
TEST(RegisterMasks, HaveStackAndFramePointerTogether) {
  RegisterLayout layout;
  layout.registers = {{"rax", 0, 0, 8, "int64"},
                      {"rbp", 6, 8, 8, "data_ptr"},
                      {"rsp", 7, 16, 8, "data_ptr"},
                      {"rip", 16, 24, 8, "code_ptr"}};
  layout.pc_index = 3;
  const auto bits = [&](const char* text) {
    return register_mask(*rsp::parse_actions(text), layout).bits[0];
  };
  EXPECT_EQ(bits("R01"), 0b1001);
  EXPECT_EQ(bits("R80"), 0b1110);
  EXPECT_EQ(bits("R40"), 0b1110);
  EXPECT_EQ(bits("R08"), 0b1000);
}

TEST_F(EngineMasks, AreEachTracepointsOwnAndTheStepsToo) {
  ASSERT_TRUE(define("1:1000:E:0:0-").ok());
  ASSERT_TRUE(define("-1:1000:R01").ok());
  ASSERT_TRUE(define("2:1000:E:1:0-").ok());
  ASSERT_TRUE(define("-2:1000:R02-").ok());
  ASSERT_TRUE(define("-2:1000:SR04").ok());
  ASSERT_TRUE(engine.start(kPid).ok());
  EXPECT_EQ(hit(), Next::Step);
  step(0x1002);
  EXPECT_EQ(registers(0), "r0 pc");
  EXPECT_EQ(registers(1), "r1 pc");
  EXPECT_EQ(registers(2), "v2 pc");
}

TEST_F(EngineMasks, OfTracepointsThatComeDuringARun) {
  trace("R01");
  ASSERT_TRUE(define("2:1008:E:0:0-").ok());
  ASSERT_TRUE(define("-2:1008:R02").ok());
  hit(0x1008);
  EXPECT_EQ(registers(0), "r1 pc");
}

TEST_F(EngineMasks, GoIntoWhatIsSaved) {
  trace("R02");
  hit();
  TraceBufferSource source(engine.buffer(), engine.catalog());
  Batch batch;
  ASSERT_TRUE(*source.next(batch));
  const Frame& frame = std::get<Frame>(batch.events()[0].body);
  EXPECT_FALSE(register_valid(frame, 0));
  EXPECT_TRUE(register_valid(frame, 1));
  EXPECT_TRUE(register_valid(frame, 3));
  EXPECT_EQ(batch.events()[0].tid, static_cast<uint64_t>(kPid));
  EXPECT_EQ(batch.events()[0].time_ns, now_ns);
}

}  // namespace
}  // namespace tracewell::agent::test
