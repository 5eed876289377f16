// The x86 tables against descriptions that gdbserver 13.1 gave for real processes.
#include "machine/x86.h"

#include <string>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "machine/tdesc.h"

namespace tracewell::machine {
namespace {

std::string data(const std::string& name) {
  std::string path = TRACEWELL_SOURCE_DIR "/tests/machine/";
  path += name;
  auto file = InputFile::open(path);
  return file.ok() ? std::string(as_text((*file)->bytes())) : "";
}

std::string dump(const RegisterLayout& layout) {
  std::string out;
  for (const Register& one : layout.registers)
    out += one.name + " " + std::to_string(one.number) + " " + std::to_string(one.offset) + " " +
           std::to_string(one.size_bytes) + " " + one.type + "\n";
  return out + std::to_string(layout.size_bytes);
}

TEST(X86Layout, DescriptionsEqualGdbservers) {
  const X86Features all{true, true, true, true, false};
  EXPECT_EQ(x86_64_tdesc(all), data("x86_64-avx512-linux.xml"));
  EXPECT_EQ(i386_tdesc(all), data("i386-avx512-linux.xml"));
}

TEST(X86Layout, LayoutsAreTheirDescriptionsRead) {
  for (int mask = 0; mask < 32; ++mask) {
    const X86Features has{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0,
                          (mask & 16) != 0};
    ProblemLog problems;
    EXPECT_EQ(dump(x86_64_layout(has)), dump(parse_tdesc(x86_64_tdesc(has), problems).registers));
    EXPECT_EQ(dump(i386_layout(has)), dump(parse_tdesc(i386_tdesc(has), problems).registers));
    EXPECT_TRUE(problems.empty());
  }
}

TEST(X86Layout, KnownPlaces) {
  const RegisterLayout layout = x86_64_layout({true, true, true, true, true});
  using namespace x86_64;
  const struct {
    const char* name;
    uint32_t number, offset;
  } places[] = {{"rsp", kRsp, 56},
                {"r15", kR15, 120},
                {"rip", kRip, kRipOffset},
                {"eflags", kEflags, kEflagsOffset},
                {"cs", kCs, kSegmentsOffset},
                {"st0", kSt0, kSt0Offset},
                {"fctrl", kFctrl, kFctrlOffset},
                {"xmm0", kXmm0, kXmm0Offset},
                {"mxcsr", kMxcsr, kMxcsrOffset},
                {"orig_rax", kOrigRax, kOrigRaxOffset},
                {"fs_base", kFsBase, kFsBaseOffset},
                {"gs_base", kGsBase, kGsBaseOffset},
                {"ymm0h", 60, kYmm0hOffset},
                {"xmm16", 76, kXmm16Offset},
                {"ymm16h", 92, kYmm16hOffset},
                {"k0", 108, kK0Offset},
                {"zmm0h", 116, kZmm0hOffset},
                {"pkru", 148, 2416}};
  for (const auto& place : places) {
    const Register* found = layout.find(place.name);
    ASSERT_NE(found, nullptr) << place.name;
    EXPECT_EQ(found->number, place.number) << place.name;
    EXPECT_EQ(found->offset, place.offset) << place.name;
  }
  EXPECT_EQ(layout.size_bytes, 2420u);
  EXPECT_EQ(layout.pc()->name, "rip");
  EXPECT_EQ(layout.registers[*layout.sp_index].name, "rsp");
}

TEST(DefaultLayout, BySize) {
  const struct {
    uint32_t size;
    const char* machine;
    size_t registers;
  } cases[] = {{560, "x86-64", 60},   {816, "x86-64", 76}, {2416, "x86-64", 148},
               {2420, "x86-64", 149}, {820, "x86-64", 77}, {536, "x86-64", 57},
               {552, "x86-64", 59},   {308, "i386", 41},   {312, "i386", 42},
               {440, "i386", 50},     {760, "i386", 66}};
  for (const auto& one : cases) {
    std::string machine = "unknown";
    EXPECT_EQ(default_layout(one.size, machine).registers.size(), one.registers) << one.size;
    EXPECT_EQ(machine, one.machine) << one.size;
  }
  std::string machine = "unknown";
  EXPECT_TRUE(default_layout(555, machine).empty());
  EXPECT_EQ(machine, "unknown");
  machine = "i386";
  EXPECT_TRUE(default_layout(560, machine).empty());
}

}  // namespace
}  // namespace tracewell::machine
