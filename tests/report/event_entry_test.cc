// Every kind of event as an entry, and what our own templates make of it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rendering.h"
#include "report/event_entry.h"

namespace tracewell::report {
namespace {

struct EventEntryTest : testing::Test {
  Catalog catalog;
  Event event;

  std::string render(const std::string& source) {
    const Compiled compiled(source);
    EXPECT_EQ(compiled.errors(), 0u) << compiled.all();
    EventEntry maker(catalog);
    const LogFacts facts;
    TextBuffer out;
    Renderer renderer(compiled.templates, facts, out);
    renderer.render(maker.make(event), 0);
    return std::string(out.text());
  }
};

TEST_F(EventEntryTest, HookOfSixtyFourBits) {
  const std::vector<uint64_t> words = {4, 0x1100008d0, 10};
  event.tid = 12;
  event.cpu = 3;
  Hook hook;
  hook.id = 0x0100;
  hook.words = words;
  event.body = hook;
  EXPECT_EQ(render("020 1.0 \"x\""),
            "UNDEFINED TRACE ID idx 0x0\n"
            "traceid 0100 hookword 8000002801000000 type 8000\n"
            "hookdata 0000 0000000000000004\n"
            "00000001100008D0 000000000000000A");
  EXPECT_EQ(render("010 1.0 \"\" $D1 $D2 $D3 $HL%U2 $HD $TID $CPUID G2 U2 G8 X8"),
            "0004 1100008D0 000A 24 0000 000C 0003 24 0000000000000004");
}

TEST_F(EventEntryTest, HookOfThirtyTwoBits) {
  const std::vector<uint64_t> words = {1, 2};
  Hook hook;
  hook.id = 0x0100;
  hook.subhook = 0x1234;
  hook.environment_bits = 32;
  hook.words = words;
  event.body = hook;
  for (const Endian endian : {Endian::Little, Endian::Big}) {
    catalog.endian = endian;
    EXPECT_EQ(render("010 1.0 \"\" X2 $D1 $D2 HT $HL"), "1234 0001 0002 E 0008");
    EXPECT_EQ(render("020 1.0 \"\""),
              "UNDEFINED TRACE ID idx 0x0\n"
              "traceid 010 hookword 010E1234 type E\n"
              "hookdata 1234 00000001\n"
              "00000002");
  }
}

TEST_F(EventEntryTest, GenericHooks) {
  const std::vector<uint64_t> words = {17};
  Hook hook;
  hook.id = 0x0100;
  hook.generic = true;
  hook.words = words;
  hook.data = as_bytes("successful malloc");
  event.body = hook;
  const std::string source = "010 1.0 \"\" $GENERIC $HL%U2 $D1%U4 G16 LOOP $HL {A0}";
  EXPECT_EQ(render(source), "0001 17 17 successful malloc");
  hook.environment_bits = 32;
  event.body = hook;
  EXPECT_EQ(render("010 1.0 \"\" HT $HD%U2 $D1%U4 G8 LOOP $HL {A0}"), "8 17 17 successful malloc");
}

TEST_F(EventEntryTest, FramesAreValuesInOrder) {
  catalog.registers.registers = {{"rax", 0, 0, 8, "int64"}, {"rip", 16, 8, 8, "code_ptr"}};
  catalog.registers.size_bytes = 16;
  const std::vector<uint8_t> block = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<uint8_t> number = {0x2a, 0, 0, 0}, valid = {2};
  const std::vector<FrameBlock> blocks = {
      {FrameBlock::Kind::Registers, 0, 0, 0, block},
      {FrameBlock::Kind::Memory, 0x1000, 0, 0, number},
      {FrameBlock::Kind::Variable, 0, 5, -1, {}},
      {FrameBlock::Kind::Memory, 0x2000, 0, 0, as_bytes("twelve chars")}};
  Frame frame;
  frame.tracepoint = 16;
  frame.blocks = blocks;
  frame.registers_valid = valid;
  event.body = frame;
  EXPECT_EQ(render("0010 1.0 \"frame\" $D1%D4 $D2%D8 G24 A16 W5 X8"),
            "frame 42 -1 twelve chars 0000000000000002");
  // Tracepoint 16 is no TRACE ON, although hook 0010 is 001.
  EXPECT_EQ(render("020 1.0 \"x\"").substr(0, 30), "UNDEFINED TRACE ID idx 0x0\ntra");
}

TEST_F(EventEntryTest, Steps) {
  const std::vector<uint8_t> opcode = {0x48, 0x89, 0x03}, value = {7, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<Step::MemoryAccess> memory = {
      {0x3000, Step::MemoryAccess::Kind::Nearby, 8, {}, {}},
      {0x2000, Step::MemoryAccess::Kind::Write, 8, {}, value}};
  Step step;
  step.pc = 0x1000;
  step.opcode = opcode;
  step.memory = memory;
  event.body = step;
  event.seq = 99;
  EXPECT_EQ(render("020 1.0 \"x\""),
            "STEP pc=0x0000000000001000 opcode=488903 writes 0x2000=0x0007");
  EXPECT_EQ(render("00B 1.0 \"\" $D5%U4 $HD"), "99 0203");

  // What nobody knows is no zero.
  const std::vector<Step::MemoryAccess> unknown = {
      {0x2000, Step::MemoryAccess::Kind::Read, 8, {}, {}}};
  const std::vector<Step::RegisterChange> registers = {{0, {}}};
  step.memory = unknown;
  step.registers = registers;
  event.body = step;
  EXPECT_EQ(render("020 1.0 \"x\""),
            "STEP pc=0x0000000000001000 opcode=488903 reads 0x2000=unknown");
  EXPECT_EQ(render("00B 1.0 \"\" $HD $D3 $D4"), "0D03 0000 0000");
}

TEST_F(EventEntryTest, MarksAndLosses) {
  event.body = Mark{"a note", false};
  EXPECT_EQ(render("020 1.0 \"x\""), "MARK a note");
  event.body = Lost{320, "full"};
  EXPECT_EQ(render("020 1.0 \"x\""), "TRACEBUFFER WRAPAROUND 0 320 missed entries: full");
  event.body = Lost{0, ""};
  EXPECT_EQ(render("020 1.0 \"x\""), "TRACEBUFFER WRAPAROUND 0 0 missed entries");
}

TEST_F(EventEntryTest, MarksOfLogsAreTheFacilitysOwnHooks) {
  const auto shown = [&](std::string_view text) {
    event.body = Mark{text, false};
    return render("020 1.0 \"x\"");
  };
  EXPECT_EQ(shown("TRACE ON channel 3"), "TRACE ON channel 3");
  EXPECT_EQ(shown("TRACE OFF channel 0"), "TRACE OFF channel 0");
  EXPECT_EQ(shown("TRACE OFF channel 0, the log is full"), "TRACE OFF channel 0, the log is full");
  EXPECT_EQ(shown("LOGFILE WRAPAROUND, 12 records dropped"),
            "LOGFILE WRAPAROUND 0 12 records dropped");
  EXPECT_EQ(shown("7 records lost: their threads could not make a ring"),
            "TRACEBUFFER WRAPAROUND 0 7 missed entries: their threads could not make a ring");
  EXPECT_EQ(shown("process 12: /bin/true"), "MARK process 12: /bin/true");
  // What only begins like one of them is a note.
  for (const std::string_view text :
       {"TRACE ON channel 8", "TRACE ON channel x", "TRACE OFF channel 1 or so", "process x: y",
        "LOGFILE WRAPAROUND, many", "3 records"})
    EXPECT_EQ(shown(text), "MARK " + std::string(text));
  // Anybody's template can show them.
  event.body = Mark{"TRACE OFF channel 2", false};
  EXPECT_EQ(render("002 1.0 \"off\" $HD $HL"), "off 0002 0000");
}

}  // namespace
}  // namespace tracewell::report
