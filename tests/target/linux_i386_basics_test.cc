// 32-bit programs are described as i386, whatever the server is; exec changes that.
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "machine/tdesc.h"
#include "model/problem.h"
#include "symbols/image.h"
#include "target/debuggee.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

class LinuxI386 : public testing::Test {
 protected:
  void SetUp() override {
    if (!runs_32_bit_programs()) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  }
};

std::vector<uint8_t> block_of(Debuggee& one, Tid tid) {
  std::vector<uint8_t> block(one.target->layout(one.pid).size_bytes);
  EXPECT_TRUE(one.target->read_registers(tid, block).ok());
  return block;
}

bool described_as(Debuggee& one, const std::string& architecture) {
  const std::string& text = one.target->target_description(one.pid);
  ProblemLog problems;
  EXPECT_EQ(machine::parse_tdesc(text, problems).registers.size_bytes,
            one.target->layout(one.pid).size_bytes);
  return text.find("<architecture>" + architecture + "<") != std::string::npos;
}

TEST_F(LinuxI386, LaunchedThroughAShellOrNot) {
  for (const bool shell : {false, true}) {
    Debuggee one;
    const StopEvent event = one.launch({"ends_32", "exit", "5"}, shell);
    EXPECT_EQ(event.signal, SIGTRAP);
    EXPECT_TRUE(described_as(one, "i386"));
    EXPECT_EQ(one.register_of(one.told, "cs"), 0x23u);
    EXPECT_EQ(one.go().exit_code, 5);
  }
}

TEST_F(LinuxI386, RegistersCanBeReadAndWritten) {
  Debuggee one;
  one.launch({"program_32"});
  const uint64_t marker = one.symbol("made");
  one.breakpoint(marker);
  const StopEvent event = one.go();
  ASSERT_EQ(event.kind, Kind::Breakpoint);
  EXPECT_EQ(one.pc(event.tid), marker);
  const std::vector<uint8_t> before = block_of(one, event.tid);
  std::vector<uint8_t> changed = before;
  const RegisterLayout& layout = one.target->layout(one.pid);
  for (const Register& reg : layout.registers) {
    const bool general = reg.name.size() == 3 && reg.name[0] == 'e' && reg.name != "esp" &&
                         reg.name != "eip";
    const bool vector = reg.name.starts_with("xmm") || reg.name.starts_with("ymm");
    const bool x87 = reg.name.size() == 3 && reg.name.starts_with("st");
    if (!general && !vector && !x87) continue;
    for (uint32_t i = 0; i < reg.size_bytes; ++i)
      changed[reg.offset + i] = static_cast<uint8_t>(17 * reg.number + i + 1);
  }
  ASSERT_TRUE(one.target->write_registers(event.tid, changed).ok());
  std::vector<uint8_t> now = block_of(one, event.tid);
  EXPECT_EQ(now, changed);
  EXPECT_FALSE(one.target->write_registers(event.tid, Bytes(changed).first(100)).ok());
  ASSERT_TRUE(one.target->write_registers(event.tid, before).ok());
  EXPECT_EQ(block_of(one, event.tid), before);
  one.set_register(event.tid, "esi", 0xfedcba98);
  EXPECT_EQ(one.register_of(event.tid, "esi"), 0xfedcba98u);
}

TEST_F(LinuxI386, VectorRegistersAreTheProgramsOwn) {
  Debuggee one;
  one.launch({"program_32"});
  one.breakpoint(one.symbol("inner"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  const std::vector<uint8_t> block = block_of(one, one.told);
  const RegisterLayout& layout = one.target->layout(one.pid);
  const float expected[4] = {1.5f, 2.5f, 3.5f, 4.5f};
  EXPECT_EQ(std::memcmp(&block[layout.find("xmm5")->offset], expected, 16), 0);
  EXPECT_EQ(std::memcmp(&block[layout.find("xmm6")->offset], expected, 16), 0);
  if (const Register* high = layout.find("ymm6h")) {
    EXPECT_EQ(std::memcmp(&block[high->offset], expected, 16), 0);
  }
}

TEST_F(LinuxI386, ModulesAndAuxv) {
  for (const char* name : {"program_32", "program_32_fixed"}) {
    SCOPED_TRACE(name);
    Debuggee one;
    one.launch({name});
    one.breakpoint(one.symbol("inner"));
    ASSERT_EQ(one.go().kind, Kind::Breakpoint);
    auto modules = one.target->facts()->modules(one.pid);
    ASSERT_TRUE(modules.ok());
    ASSERT_GE(modules->size(), 3u);  // libm, libc, the loader
    EXPECT_EQ(modules->at(0).bias == 0, std::string(name) == "program_32_fixed");
    for (const Module& module : *modules) {
      EXPECT_LT(module.start + module.size_bytes, uint64_t{1} << 32) << module.path;
      EXPECT_GT(module.size_bytes, 0u) << module.path;
      const auto file = symbols::Image::open(module.path);
      if (!file.ok()) continue;  // the vdso
      EXPECT_EQ(module.build_id, (*file)->facts().build_id) << module.path;
    }
    auto xml = one.target->facts()->libraries_svr4(one.pid);
    ASSERT_TRUE(xml.ok());
    EXPECT_NE(xml->find("libm.so.6"), std::string::npos) << *xml;
    auto auxv = one.target->facts()->auxv(one.pid);
    ASSERT_TRUE(auxv.ok());
    bool phent = false;
    for (size_t at = 0; at + 8 <= auxv->size(); at += 8)
      if (load_uint(&(*auxv)[at], 4, Endian::Little) == AT_PHENT)
        phent = load_uint(&(*auxv)[at + 4], 4, Endian::Little) == sizeof(Elf32_Phdr);
    EXPECT_TRUE(phent);
  }
}

TEST_F(LinuxI386, StepsOverOneInstructionAtATime) {
  Debuggee one;
  one.launch({"hammer_32", "1", "3"});
  one.breakpoint(one.symbol("work"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  const Tid tid = one.told;
  one.remove_breakpoint(one.symbol("work"));
  const uint64_t sp = one.register_of(tid, "esp");
  EXPECT_EQ(one.step(tid).kind, Kind::Stepped);  // push
  EXPECT_EQ(one.pc(tid), one.symbol("site_thunk"));
  EXPECT_EQ(one.register_of(tid, "esp"), sp - 4);
  EXPECT_EQ(one.step(tid).kind, Kind::Stepped);  // the call of the next instruction
  const auto returns = one.read<uint32_t>(one.register_of(tid, "esp"));
  EXPECT_EQ(returns, one.pc(tid));
}

TEST_F(LinuxI386, WatchpointsAndHardwareBreakpoints) {
  if (!has_debug_registers()) GTEST_SKIP() << "debug registers stop nothing here";
  Debuggee one;
  one.launch({"program_32"});
  Breakpoints& breakpoints = *one.target->breakpoints();
  const uint64_t watched = one.symbol("watched"), wide = one.symbol("made");
  ASSERT_TRUE(breakpoints.insert(one.pid, Breakpoints::Kind::WriteWatch, watched, 4).ok());
  StopEvent event = one.go();
  EXPECT_EQ(event.kind, Kind::Watchpoint);
  EXPECT_EQ(event.address, watched);
  ASSERT_TRUE(breakpoints.remove(one.pid, Breakpoints::Kind::WriteWatch, watched, 4).ok());
  ASSERT_TRUE(breakpoints.insert(one.pid, Breakpoints::Kind::Hardware, wide, 1).ok());
  event = one.go();
  EXPECT_EQ(event.kind, Kind::Hardware);
  EXPECT_EQ(one.pc(event.tid), wide);
}

uint64_t field(const std::vector<uint8_t>& siginfo, size_t at) {
  return load_uint(&siginfo[at], 4, Endian::Little);
}

TEST_F(LinuxI386, SiginfoIsThatOf32Bits) {
  Debuggee one;
  one.launch({"program_32"});
  StopEvent event = one.go();
  ASSERT_EQ(event.signal, SIGUSR1);
  auto info = one.target->signals()->read_siginfo(event.tid);
  ASSERT_TRUE(info.ok());
  ASSERT_EQ(info->size(), 128u);
  EXPECT_EQ(field(*info, 8), static_cast<uint32_t>(SI_QUEUE));
  EXPECT_EQ(field(*info, 12), static_cast<uint64_t>(one.pid));
  EXPECT_EQ(field(*info, 16), getuid());
  EXPECT_EQ(field(*info, 20), 1000u);
  // Another value, which the program does not expect: it goes on without its crash.
  store_uint(&(*info)[20], 2000, 4, Endian::Little);
  ASSERT_TRUE(one.target->signals()->write_siginfo(event.tid, *info).ok());
  EXPECT_EQ(*one.target->signals()->read_siginfo(event.tid), *info);
  event = one.go(SIGUSR1);
  EXPECT_EQ(event.kind, Kind::Exited);
}

TEST_F(LinuxI386, SiginfoOfAFault) {
  Debuggee one;
  one.launch({"program_32"});
  one.target->signals()->pass_signals({SIGUSR1});
  const StopEvent event = one.go();
  ASSERT_EQ(event.signal, SIGSEGV);
  auto info = one.target->signals()->read_siginfo(event.tid);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(field(*info, 8), static_cast<uint32_t>(SEGV_MAPERR));
  EXPECT_EQ(field(*info, 12), 0x10u);
}

TEST_F(LinuxI386, ExecFromEachKindToTheOther) {
  for (const bool narrow : {false, true}) {
    const std::string first = narrow ? "becomes_32" : "becomes";
    const std::string second = narrow ? "becomes" : "becomes_32";
    Debuggee one;
    one.target->process_control()->report_forks(false, false, true);
    one.launch({first, inferior(second), inferior("ends"), "exit", "7"});
    EXPECT_TRUE(described_as(one, narrow ? "i386" : "i386:x86-64"));
    one.site(one.symbol("marker"));
    StopEvent event = one.go();
    ASSERT_EQ(event.kind, Kind::Exec);
    EXPECT_EQ(event.path, inferior(second));
    EXPECT_TRUE(described_as(one, narrow ? "i386:x86-64" : "i386"));
    EXPECT_EQ(block_of(one, event.tid).size(), one.target->layout(one.pid).size_bytes);
    EXPECT_EQ(one.register_of(event.tid, "cs"), narrow ? 0x33u : 0x23u);
    event = one.go();
    ASSERT_EQ(event.kind, Kind::Exec);
    EXPECT_TRUE(described_as(one, "i386:x86-64"));
    EXPECT_EQ(one.go().exit_code, 7);
    EXPECT_EQ(one.handler.total(), 1u);
  }
}

TEST_F(LinuxI386, TheKindOfTheLastProcessIsRemembered) {
  Debuggee one;
  one.launch({"ends_32", "exit", "0"});
  EXPECT_EQ(one.go().kind, Kind::Exited);
  EXPECT_TRUE(described_as(one, "i386"));
  one.launch({"ends", "exit", "0"});
  EXPECT_TRUE(described_as(one, "i386:x86-64"));
}

/// As a debugger calls a function while the program sits in a system call.
TEST_F(LinuxI386, AnInterruptedSystemCallSurvivesACall) {
  Debuggee one;
  one.launch({"syscalls_32", "asked"});
  one.breakpoint(one.symbol("site_syscall"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("site_syscall"));
  const uint64_t after = one.symbol("site_after"), function = one.symbol("on_alarm");
  const Tid tid = one.told;
  one.resume_all();
  ASSERT_TRUE(one.target->interrupt().ok());
  ASSERT_EQ(one.wait().kind, Kind::Interrupted);
  const std::vector<uint8_t> before = block_of(one, tid);
  const uint64_t sp = (one.register_of(tid, "esp") - 256) & ~uint64_t{15};
  const auto back = static_cast<uint32_t>(one.symbol("main"));
  uint8_t stack[8] = {};
  store_uint(stack, back, 4, Endian::Little);
  ASSERT_TRUE(one.target->write_memory(one.pid, sp, stack).ok());
  one.set_register(tid, "esp", sp);
  one.set_register(tid, "eip", function);
  one.breakpoint(back);
  const ResumeAction action{.tid = tid};
  ASSERT_TRUE(one.target->resume({&action, 1}).ok());
  ASSERT_EQ(one.wait().kind, Kind::Breakpoint);
  one.remove_breakpoint(back);
  ASSERT_TRUE(one.target->write_registers(tid, before).ok());
  EXPECT_EQ(block_of(one, tid), before);
  one.breakpoint(after);
  ASSERT_EQ(::kill(static_cast<pid_t>(one.pid), SIGUSR1), 0);
  const StopEvent event = one.go();
  ASSERT_EQ(event.kind, Kind::Breakpoint);
  EXPECT_EQ(one.register_of(event.tid, "eax"), 1u);  // not EINTR, nor a restart's secret number
  one.remove_breakpoint(after);
  EXPECT_EQ(one.go().exit_code, 0);
}

}  // namespace
}  // namespace tracewell::target
