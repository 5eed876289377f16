#include "machine/tdesc.h"

#include <string>

#include <gtest/gtest.h>

#include "machine/architecture.h"
#include "machine/linux_tdesc.h"
#include "machine/x86.h"

namespace tracewell::machine {
namespace {

TargetDescription parse(std::string_view xml, ProblemLog& problems) {
  return parse_tdesc(xml, problems);
}

TEST(Tdesc, PowerPc) {
  ProblemLog problems;
  const auto got = parse(
      "<target><architecture> powerpc:common\n</architecture><osabi>GNU/Linux</osabi>"
      "<feature name='org.gnu.gdb.power.core'><reg name='r0' bitsize='32' type='uint32'/>"
      "<reg name='r1' bitsize='32' type='uint32'/><reg name='pc' bitsize='32' type='code_ptr' "
      "regnum='64'/><reg name='msr' bitsize='32'/></feature></target>",
      problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(got.machine, "powerpc");
  EXPECT_EQ(got.osabi, "GNU/Linux");
  EXPECT_EQ(got.address_bytes, 4u);
  EXPECT_EQ(got.endian, Endian::Big);
  EXPECT_TRUE(got.either_endian);
  ASSERT_EQ(got.registers.registers.size(), 4u);
  EXPECT_EQ(got.registers.size_bytes, 16u);
  EXPECT_EQ(got.registers.registers[3].number, 65u);  // the one after regnum 64
  EXPECT_EQ(got.registers.registers[3].type, "int");
  EXPECT_EQ(got.registers.pc()->offset, 8u);  // packed, although numbers have a gap
  EXPECT_EQ(got.registers.registers[*got.registers.sp_index].name, "r1");
}

TEST(Tdesc, RegistersGoByNumberNotByPlace) {
  ProblemLog problems;
  const auto got = parse(
      "<target><feature name='f'><reg name='b' bitsize='1' regnum='0x3'/>"
      "<reg name='a' bitsize='12' regnum='1'/></feature></target>",
      problems);
  ASSERT_EQ(got.registers.registers.size(), 2u);
  EXPECT_EQ(got.registers.registers[0].name, "a");
  EXPECT_EQ(got.registers.registers[0].size_bytes, 2u);
  EXPECT_EQ(got.registers.registers[1].offset, 2u);
  EXPECT_EQ(got.registers.registers[1].size_bytes, 1u);
  EXPECT_EQ(got.machine, "unknown");
}

TEST(Tdesc, BadPartsAreLeftOutAndTold) {
  const char* bad[] = {
      "<reg name='x' bitsize='0'/>",
      "<reg name='x'/>",
      "<reg bitsize='8'/>",
      "<reg name='x' bitsize='99999999999'/>",
      "<reg name='x' bitsize='8' regnum='-1'/>",
      "<reg name='x' bitsize='8' regnum='70000'/>",
      "<reg name='x' bitsize='8' regnum='5'/>",
  };
  for (const char* text : bad) {
    ProblemLog problems;
    const auto got = parse(std::string("<target><feature><reg name='ok' bitsize='8' regnum='5'/>") +
                               text + "</feature></target>",
                           problems);
    EXPECT_EQ(problems.count(), 1u) << text;
    ASSERT_EQ(got.registers.registers.size(), 1u) << text;
    EXPECT_EQ(got.registers.registers[0].name, "ok") << text;
  }
}

TEST(Tdesc, WhatABlockHasNoRoomForIsLeftOutAndToldOnce) {
  std::string text = "<target><feature>";
  for (int i = 0; i < 1000; ++i)  // 60000 bytes each; the third has no room, nor has a small one
    text += "<reg name='r" + std::to_string(i) + "' bitsize='" + (i < 3 ? "480000" : "8") + "'/>";
  const size_t third = text.find("<reg name='r2'");
  text += "</feature></target>";
  ProblemLog problems;
  const auto got = parse_tdesc(text, problems, 77);
  ASSERT_EQ(got.registers.registers.size(), 2u);
  EXPECT_EQ(got.registers.size_bytes, 120000u);
  EXPECT_EQ(got.described_bytes, 180997u);
  ASSERT_EQ(problems.count(), 1u);
  EXPECT_EQ(problems.kept()[0].offset, 77u);
  EXPECT_NE(problems.kept()[0].text.find("\"r2\""), std::string::npos);
  EXPECT_NE(problems.kept()[0].text.find("at byte " + std::to_string(third + 1) + " "),
            std::string::npos)
      << problems.kept()[0].text;
}

TEST(Tdesc, ABlockMayBeAsLargeAsTheBound) {
  const std::string wide = "<reg name='a' bitsize='524288'/><reg name='b' bitsize='524288'/>";
  ProblemLog problems;
  const auto full = parse("<target><feature>" + wide + "</feature></target>", problems);
  EXPECT_EQ(full.registers.size_bytes, kRegisterBlockBytesMax);
  EXPECT_TRUE(problems.empty());
  const auto more = parse(
      "<target><feature>" + wide + "<reg name='c' bitsize='1'/></feature></target>", problems);
  EXPECT_EQ(more.registers.registers.size(), 2u);
  EXPECT_EQ(problems.count(), 1u);
}

TEST(Tdesc, IncludesAreNotFollowed) {
  ProblemLog problems;
  const auto got =
      parse("<target><architecture>arm</architecture><xi:include href='/etc/passwd'/></target>",
            problems);
  EXPECT_EQ(problems.count(Problem::Severity::Warning), 1u);
  EXPECT_NE(problems.kept()[0].text.find("/etc/passwd"), std::string::npos);
  EXPECT_EQ(got.machine, "arm");
  EXPECT_TRUE(got.registers.empty());
}

TEST(Tdesc, HostileText) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  const std::string texts[] = {"",
                               "<",
                               "<target",
                               "<target>",
                               "not xml",
                               "<b/>",
                               deep,
                               std::string("<target>\0</target>", 18),
                               "<!DOCTYPE a [<!ENTITY x \"y\">]><target>&x;</target>"};
  for (const std::string& text : texts) {
    ProblemLog problems;
    EXPECT_TRUE(parse(text, problems).registers.empty());
  }
}

TEST(Tdesc, RenderedReadsBackTheSame) {
  ProblemLog problems;
  auto given = parse(
      "<target><architecture>mips</architecture><feature name='f'>"
      "<reg name='r0' bitsize='32' type='uint32'/><reg name='a&amp;&quot;b' bitsize='64' "
      "type='mine' regnum='9'/><reg name='pc' bitsize='32' type='code_ptr'/></feature></target>",
      problems);
  const auto again = parse(render_tdesc(given.registers, given.machine), problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(again.machine, "mips");
  ASSERT_EQ(again.registers.registers.size(), given.registers.registers.size());
  for (size_t i = 0; i < given.registers.registers.size(); ++i) {
    EXPECT_EQ(again.registers.registers[i].name, given.registers.registers[i].name);
    EXPECT_EQ(again.registers.registers[i].number, given.registers.registers[i].number);
    EXPECT_EQ(again.registers.registers[i].offset, given.registers.registers[i].offset);
  }
  EXPECT_EQ(render_tdesc(given.registers, "no-such-machine"), "");
  EXPECT_EQ(render_tdesc({}, "mips"), "");
}

TEST(Tdesc, RegistersOfLinuxAreAddedOnce) {
  X86Features windows;
  windows.linux_abi = false;
  std::string given = x86_64_tdesc(windows);
  given.erase(given.find("  <osabi>"), std::string_view("  <osabi>GNU/Linux</osabi>\n").size());
  const std::string added = with_linux_registers(given);
  ProblemLog problems;
  const auto before = parse_tdesc(given, problems), after = parse_tdesc(added, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(before.osabi, "");
  EXPECT_EQ(after.osabi, "GNU/Linux");
  ASSERT_EQ(after.registers.registers.size(), before.registers.registers.size() + 1);
  EXPECT_EQ(after.registers.registers.back().name, "orig_rax");
  EXPECT_EQ(after.registers.registers.back().size_bytes, 8u);
  EXPECT_EQ(with_linux_registers(added), added);
  EXPECT_NE(with_linux_registers(i386_tdesc(windows)).find("\"orig_eax\" bitsize=\"32\""),
            std::string::npos);
  for (const char* other : {"", "<target/>", "\"org.gnu.gdb.i386.core\"", "</target>"})
    EXPECT_EQ(with_linux_registers(other), other);
}

TEST(Architecture, LongestPrefixWins) {
  EXPECT_EQ(find_architecture("i386:x86-64:intel")->machine, "x86-64");
  EXPECT_EQ(find_architecture("i386:intel")->machine, "i386");
  EXPECT_EQ(find_architecture("i386:x64-32")->address_bytes, 4u);
  EXPECT_EQ(find_architecture("powerpc:e500mc64")->machine, "powerpc64");
  EXPECT_EQ(find_architecture("powerpc:603")->machine, "powerpc");
  EXPECT_EQ(find_architecture("armv7")->machine, "arm");
  EXPECT_EQ(find_architecture("s390:64-bit")->endian, Endian::Big);
  EXPECT_EQ(find_architecture("nonesuch"), nullptr);
  EXPECT_EQ(find_machine("x86-64")->prefix, "i386:x86-64");
}

}  // namespace
}  // namespace tracewell::machine
