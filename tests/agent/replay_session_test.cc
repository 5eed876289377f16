// What a debugger is told of a recorded trace, packet by packet.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/frame_list.h"
#include "agent/recorded/recorded_trace.h"
#include "agent/session/session.h"
#include "base/text/hex.h"
#include "machine/x86.h"
#include "rsp/framing.h"
#include "symbols/elf_builder.h"
#include "target/recorded/recorded_target.h"

namespace tracewell::agent {
namespace {

std::string hex_x(size_t bytes) { return std::string(2 * bytes, 'x'); }

/// A PIE at 0x555555554000 whose code is 0x90s at 0x1000.
symbols::ImageMap test_images() {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R, 0x11}, {0x1000, 0x100, PF_R | PF_X, 0x90},
                  {0x3000, 0x40, PF_R | PF_W, 0x33}};
  elf.dynamic_flags_1 = DF_1_PIE;
  auto owner = shared_bytes(elf.build());
  symbols::ImageMap images;
  EXPECT_TRUE(images.add(*symbols::Image::parse(*owner, owner, "/bin/a&b"), 0x555555554000));
  return images;
}

Catalog test_catalog() {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = machine::x86_64_layout({});
  TracepointDef tracepoint;
  tracepoint.number = 4;
  tracepoint.address = 0x555555555010;
  tracepoint.actions = {"R0fff"};
  tracepoint.sources = {{"at", "work"}};
  catalog.tracepoints = {tracepoint};
  catalog.variables = {{1, 0, true, "trace_timestamp"}};
  RunStatus status;
  status.running = true;
  catalog.status = status;
  return catalog;
}

class Replay : public ::testing::Test {
 protected:
  Replay() : source(test_catalog()), target(source.catalog(), test_images()) {
    registers_.assign(source.catalog().registers.size_bytes, 0x5a);
    FrameBlock registers;
    registers.kind = FrameBlock::Kind::Registers;
    registers.bytes = registers_;
    FrameBlock memory;
    memory.address = 0x7000;
    memory.bytes = memory_;
    FrameBlock variable;
    variable.kind = FrameBlock::Kind::Variable;
    variable.number = 1;
    variable.value = -2;
    source.items = {{4, 0x555555555010, {registers, memory}}, {4, 0x555555555010, {variable}}};
    trace = *RecordedTrace::create(source, target);
    SessionOptions options;
    options.files = SessionOptions::Files::Listed;
    options.listed_files = target.files();
    session = std::make_unique<Session>(target, trace.get(), options);
  }

  std::string ask(std::string_view packet) {
    session->feed(as_bytes(rsp::frame(packet, false)));
    rsp::Decoder decoder(rsp::Sender::Stub);
    decoder.feed(session->take_output());
    std::string reply = "(none)";
    while (auto item = decoder.next())
      if (item->kind == rsp::Item::Kind::Packet) reply = item->payload;
    return reply;
  }

  const std::vector<uint8_t> memory_{1, 2, 3, 4};
  std::vector<uint8_t> registers_;
  FrameList source;
  target::RecordedTarget target;
  std::unique_ptr<RecordedTrace> trace;
  std::unique_ptr<Session> session;
};

TEST_F(Replay, StandsStillWithoutRegisters) {
  EXPECT_TRUE(ask("?").starts_with("T05thread:1;")) << ask("?");
  // A pc there must be, or GDB hangs up.
  std::string expected = hex_x(target.layout(1).size_bytes);
  expected.replace(2 * machine::x86_64::kRipOffset, 16, 16, '0');
  EXPECT_EQ(ask("g"), expected);
  EXPECT_EQ(ask("qAttached"), "1");  // so that GDB detaches when it leaves
}

TEST_F(Replay, StatusIsStopped) {
  EXPECT_TRUE(ask("qTStatus").starts_with("T0;tunknown:0;tframes:2")) << ask("qTStatus");
}

TEST_F(Replay, DefinitionsAreUploaded) {
  EXPECT_EQ(ask("qTfP"), "T4:555555555010:E:0:0");
  EXPECT_EQ(ask("qTsP"), "A4:555555555010:R0fff");
  EXPECT_EQ(ask("qTsP"), "Z4:555555555010:at:0:4:776f726b");
  EXPECT_EQ(ask("qTsP"), "l");
  EXPECT_EQ(ask("qTfV"), "1:0:1:74726163655f74696d657374616d70");
  EXPECT_EQ(ask("qTP:4:555555555010"), "V0:0");
  // GDB may have put it elsewhere by the source that it has.
  EXPECT_EQ(ask("qTP:4:555555555018"), "V0:0");
}

TEST_F(Replay, FramesHaveWhatWasCollected) {
  EXPECT_EQ(ask("QTFrame:0"), "F0T4");
  EXPECT_EQ(ask("g"), to_hex(registers_));
  EXPECT_EQ(ask("m7000,4"), "01020304");
  EXPECT_EQ(ask("m7002,8"), "0304");
  EXPECT_EQ(ask("m7004,1"), "E01");
  EXPECT_EQ(ask("m555555555010,2"), "9090");  // code, from the image
  EXPECT_EQ(ask("m555555557000,2"), "E01");   // data that the program writes
  EXPECT_EQ(ask("qTV:1"), "U");
  EXPECT_EQ(ask("QTFrame:1"), "F1T4");
  EXPECT_EQ(ask("qTV:1"), "Vfffffffffffffffe");
  // Without a register block the place is still known.
  std::string expected = hex_x(target.layout(1).size_bytes);
  expected.replace(2 * machine::x86_64::kRipOffset, 16, "1050555555550000");
  EXPECT_EQ(ask("g"), expected);
  EXPECT_EQ(ask("QTFrame:2"), "F-1");
  EXPECT_EQ(ask("QTFrame:ffffffff"), "OK");
  EXPECT_EQ(ask("qTV:1"), "U");
  EXPECT_EQ(ask("m7000,4"), "E01");
  EXPECT_EQ(ask("m555555555010,2"), "9090");
}

TEST_F(Replay, APcThatWasNotCollectedIsThatOfTheTracepoint) {
  const std::vector<uint8_t> only_rax{1};
  source.registers_valid = only_rax;
  EXPECT_EQ(ask("QTFrame:0"), "F0T4");
  std::string expected = hex_x(target.layout(1).size_bytes);
  expected.replace(0, 16, to_hex(Bytes(registers_).first(8)));
  expected.replace(2 * machine::x86_64::kRipOffset, 16, "1050555555550000");
  EXPECT_EQ(ask("g"), expected);
}

TEST_F(Replay, TheThreadIsNamedAfterTheFrames) {
  trace->on_frame = [this](const Event& event) { target.show_thread(event.tid); };
  source.items[1].tid = 4711;
  const std::string list = "qXfer:threads:read::0,1000";
  EXPECT_NE(ask(list).find("\"recorded\""), std::string::npos);
  ask("QTFrame:1");
  EXPECT_NE(ask(list).find("\"thread 4711\""), std::string::npos) << ask(list);
  ask("QTFrame:0");
  EXPECT_NE(ask(list).find("\"recorded\""), std::string::npos);
}

TEST_F(Replay, NothingCanBeChanged) {
  for (const char* packet : {"QTinit", "QTDP:1:1000:E:0:0", "QTStart", "QTStop", "Z0,1000,1"})
    EXPECT_EQ(ask(packet), "") << packet;
  for (const char* packet : {"M7000,1:00", "vCont;c", "G00"})
    EXPECT_TRUE(ask(packet).starts_with("E")) << packet << " " << ask(packet);
  // In words: a debugger shows them to whoever sets a variable.
  const std::string all = "G" + to_hex(registers_);
  EXPECT_EQ(ask(all), "E.this is a recorded trace: registers cannot be changed");
  EXPECT_EQ(ask("M7000,1:00"), "E.this is a recorded trace: memory cannot be changed");
  EXPECT_EQ(ask("P0=0500000000000000"),
            "E.this is a recorded trace: registers are in its frames only");
  ask("QTFrame:0");
  for (const std::string& packet : {all, std::string("P0=0500000000000000"),
                                    std::string("M7000,1:00"), std::string("X7000,1:x")})
    EXPECT_EQ(ask(packet), "E.what a frame recorded cannot be changed") << packet;
  EXPECT_TRUE(ask("vCont;c").starts_with("E"));
  EXPECT_EQ(ask("g"), to_hex(registers_));
}

TEST_F(Replay, TheProgramIsWhereItWas) {
  const std::string auxv = ask("qXfer:auxv:read::0,1000");
  auto entry = std::string("\x09\0\0\0\0\0\0\0\x10\x50\x55\x55\x55\x55\0\0", 16);
  EXPECT_NE(auxv.find(entry), std::string::npos);  // AT_ENTRY
  EXPECT_EQ(ask("qXfer:exec-file:read:1:0,1000"), "l/bin/a&b");
  EXPECT_EQ(ask("qXfer:libraries-svr4:read::0,1000"),
            "l<library-list-svr4 version=\"1.0\"></library-list-svr4>");
}

TEST_F(Replay, FilesAreThoseOfTheTrace) {
  ASSERT_EQ(target.files().size(), 1u);
  EXPECT_EQ(target.files()[0].path, "/bin/a&b");
  EXPECT_EQ(ask("vFile:setfs:1"), "F0");
  for (const char* packet : {"vFile:open:2f6574632f706173737764,0,0",  // /etc/passwd
                             "vFile:stat:2f6574632f706173737764",
                             "vFile:readlink:2f6574632f706173737764"})
    EXPECT_EQ(ask(packet), "F-1,2") << packet;
  const std::vector<uint8_t> bytes = {0x7f, 'E', 'L', 'F', 2};
  FileFacts facts;
  facts.mode = 0755;
  session->options.listed_files.push_back({"/proc/self/exe", bytes, facts, nullptr});
  EXPECT_EQ(ask("vFile:open:2f70726f632f73656c662f657865,0,0"), "F0");
  EXPECT_EQ(ask("vFile:open:2f70726f632f73656c662f657865,1,0"), "F-1,d");  // for writing
  // What was read when it was listed, whatever has that name now.
  EXPECT_EQ(ask("vFile:pread:0,4,0"), "F4;" "ELF");
  EXPECT_EQ(ask("vFile:pread:0,100,3"), "F2;F\x02");
  EXPECT_EQ(ask("vFile:pread:0,100,9"), "F0;");
  EXPECT_EQ(ask("vFile:pwrite:0,0,x"), "F-1,d");
  EXPECT_TRUE(ask("vFile:fstat:0").starts_with("F40;"));
  EXPECT_EQ(ask("vFile:stat:2f70726f632f73656c662f657865"), ask("vFile:fstat:0"));
  EXPECT_EQ(ask("vFile:readlink:2f70726f632f73656c662f657865"), "F-1,16");
  EXPECT_EQ(ask("vFile:close:0"), "F0");
  EXPECT_EQ(ask("vFile:unlink:2f70726f632f73656c662f657865"), "F-1,d");
}

TEST_F(Replay, LeavesPolitely) {
  EXPECT_EQ(ask("D;1"), "OK");
  EXPECT_TRUE(session->finished());
}

}  // namespace
}  // namespace tracewell::agent
