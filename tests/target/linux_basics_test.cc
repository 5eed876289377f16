// Launch, breakpoints, steps, registers, memory, exits.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "symbols/image.h"
#include "target/debuggee.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

TEST(LinuxLaunch, StopsAtTheFirstInstructionAndRunsToTheExit) {
  for (const bool shell : {false, true}) {
    Debuggee one;
    const StopEvent event = one.launch({"ends", "exit", "7"}, shell);
    EXPECT_EQ(event.kind, Kind::Signal);
    EXPECT_EQ(event.signal, SIGTRAP);
    ASSERT_EQ(one.target->processes().size(), 1u);
    EXPECT_FALSE(one.target->processes()[0].attached);
    std::vector<ThreadInfo> threads = one.target->threads(one.pid);
    ASSERT_EQ(threads.size(), 1u);
    one.target->describe(threads[0]);
    EXPECT_EQ(threads[0].name, "ends");
    const StopEvent end = one.go();
    EXPECT_EQ(end.kind, Kind::Exited);
    EXPECT_EQ(end.exit_code, 7);
    EXPECT_TRUE(one.target->processes().empty());
    EXPECT_EQ(one.wait().kind, Kind::NoneLeft);
  }
}

TEST(LinuxLaunch, SaysWhyAProgramCannotRun) {
  for (const bool shell : {false, true}) {
    const Watchdog watchdog(30);
    auto target = make_linux_target();
    Processes::LaunchOptions options;
    options.argv = {"/nowhere/at/all"};
    options.startup_with_shell = shell;
    auto event = target->process_control()->launch(options);
    ASSERT_FALSE(event.ok());
    // The shell names it, on the standard error.
    const char* why = shell ? "exited with code 127" : "/nowhere/at/all";
    EXPECT_NE(event.error().message.find(why), std::string::npos) << event.error().message;
  }
}

TEST(LinuxLaunch, QuotesWordsForTheShellAndCountsTheWrapper) {
  const Watchdog watchdog(30);
  auto target = make_linux_target();
  Processes::LaunchOptions options;
  options.argv = {inferior("ends"), "it's $HOME; `x` \"y\" \\ *", "9"};
  options.wrapper = {"env", "TRACEWELL_TEST=a b"};
  options.environment_set = {"TRACEWELL_OTHER=1"};
  auto event = target->process_control()->launch(options);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(*target->facts()->exec_file(event->pid), inferior("ends"));
  std::ifstream file("/proc/" + std::to_string(event->pid) + "/cmdline");
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(line.find(options.argv[1]), std::string::npos) << line;
  std::ifstream env("/proc/" + std::to_string(event->pid) + "/environ");
  const std::string vars((std::istreambuf_iterator<char>(env)), {});
  EXPECT_NE(vars.find("TRACEWELL_TEST=a b"), std::string::npos);
  EXPECT_NE(vars.find("TRACEWELL_OTHER=1"), std::string::npos);
}

/// As gdbserver. Who may write to the working directory does not choose what runs in front of it.
TEST(LinuxLaunch, OnlyTheProgramIsLookedForInTheWorkingDirectory) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const fs::path folder = fs::temp_directory_path() / ("launch-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::copy_file(inferior("ends"), folder / "ends");
  std::ofstream(folder / "env") << "#!/bin/sh\nexec /usr/bin/env TRACEWELL_THEIRS=1 \"$@\"\n";
  fs::permissions(folder / "env", fs::perms::owner_all);
  fs::current_path(folder);
  for (const bool shell : {false, true}) {
    const Watchdog watchdog(30);
    auto target = make_linux_target();
    Processes::LaunchOptions options;
    options.argv = {"ends", "exit", "7"};
    options.wrapper = {"env", "TRACEWELL_TEST=1"};
    options.startup_with_shell = shell;
    auto event = target->process_control()->launch(options);
    ASSERT_TRUE(event.ok()) << event.error().text();
    EXPECT_EQ(*target->facts()->exec_file(event->pid), (folder / "ends").string());
    std::ifstream env("/proc/" + std::to_string(event->pid) + "/environ");
    const std::string vars((std::istreambuf_iterator<char>(env)), {});
    EXPECT_NE(vars.find("TRACEWELL_TEST=1"), std::string::npos);
    EXPECT_EQ(vars.find("TRACEWELL_THEIRS"), std::string::npos);
  }
  if (::geteuid() == 0) {  // somebody else's there is not what the name means
    const Watchdog watchdog(30);
    fs::copy_file(inferior("ends"), folder / "true");
    ASSERT_EQ(::chown((folder / "true").c_str(), 65534, 65534), 0);
    auto target = make_linux_target();
    Processes::LaunchOptions options;
    options.argv = {"true"};
    auto event = target->process_control()->launch(options);
    ASSERT_TRUE(event.ok()) << event.error().text();
    EXPECT_NE(*target->facts()->exec_file(event->pid), (folder / "true").string());
  }
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST(LinuxExit, KilledBySignal) {
  Debuggee one;
  one.launch({"ends", "kill", "15"});
  const StopEvent event = one.go();
  EXPECT_EQ(event.kind, Kind::Signal);
  EXPECT_EQ(event.signal, SIGTERM);
  const StopEvent end = one.go(SIGTERM);
  EXPECT_EQ(end.kind, Kind::Signalled);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(LinuxExit, SuppressedSignal) {
  Debuggee one;
  one.launch({"ends", "kill", "15"});
  EXPECT_EQ(one.go().signal, SIGTERM);
  EXPECT_EQ(one.go(0).kind, Kind::Exited);
}

TEST(LinuxExit, PassedSignalIsNotTold) {
  Debuggee one;
  one.launch({"ends", "kill", "15"});
  one.target->signals()->pass_signals({SIGTERM});
  const StopEvent end = one.go();
  EXPECT_EQ(end.kind, Kind::Signalled);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(LinuxExit, LeaderEndsBeforeTheOthers) {
  Debuggee one;
  one.launch({"ends", "leader", "5"});
  one.breakpoint(one.symbol("marker"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(one.go().kind, Kind::Breakpoint);
    one.remove_breakpoint(one.symbol("marker"));
    EXPECT_EQ(one.step(one.told).kind, Kind::Stepped);
    one.breakpoint(one.symbol("marker"));
  }
  const StopEvent late = one.go();
  EXPECT_EQ(late.kind, Kind::Breakpoint);
  EXPECT_NE(late.tid, one.pid);
  ASSERT_EQ(one.target->threads(one.pid).size(), 1u);
  EXPECT_EQ(one.target->threads(one.pid)[0].tid, late.tid);
  one.remove_breakpoint(one.symbol("marker"));
  const StopEvent end = one.go();
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, 5);
}

TEST(LinuxBreakpoint, IsHitAndHidden) {
  Debuggee one;
  one.launch({"ends", "exit", "0"});
  const uint64_t marker = one.symbol("marker");
  const uint8_t first = one.read<uint8_t>(marker);
  one.breakpoint(marker);
  one.breakpoint(marker);
  EXPECT_EQ(one.read<uint8_t>(marker), first);
  const StopEvent event = one.go();
  EXPECT_EQ(event.kind, Kind::Breakpoint);
  EXPECT_EQ(event.address, marker);
  EXPECT_EQ(one.pc(event.tid), marker);
  EXPECT_EQ(one.register_of(event.tid, "rdi"), 0u);
  one.remove_breakpoint(marker);
  EXPECT_EQ(one.go().kind, Kind::Exited);
}

TEST(LinuxBreakpoint, WritingOverItChangesWhatIsUnderIt) {
  Debuggee one;
  one.launch({"ends"});
  const uint64_t marker = one.symbol("marker");
  one.breakpoint(marker);
  const uint8_t bytes[3] = {0x90, 0x91, 0x92};
  ASSERT_TRUE(one.target->write_memory(one.pid, marker, bytes).ok());
  EXPECT_EQ(one.read<uint8_t>(marker), 0x90);
  one.remove_breakpoint(marker);
  EXPECT_EQ(one.read<uint8_t>(marker), 0x90);
  EXPECT_EQ(one.read<uint8_t>(marker + 2), 0x92);
}

TEST(LinuxMemory, ReadsAPrefixAndWritesAllOrNothing) {
  Debuggee one;
  one.launch({"ends"});
  std::vector<uint8_t> few(16);
  EXPECT_EQ(one.target->read_memory(one.pid, 8, few), 0u);
  const uint64_t page = one.symbol("counter") & ~uint64_t{0xfff};
  std::vector<uint8_t> much(1 << 20);
  const size_t got = one.target->read_memory(one.pid, page, much);
  EXPECT_GT(got, 0u);
  ASSERT_LT(got, much.size());
  const uint64_t end = page + got;
  const uint64_t before = one.read<uint64_t>(end - 8);
  EXPECT_FALSE(one.target->write_memory(one.pid, end - 8, std::vector<uint8_t>(16, 0xee)).ok());
  EXPECT_EQ(one.read<uint64_t>(end - 8), before);
}

TEST(LinuxRegisters, WriteAndReadBackEveryKind) {
  Debuggee one;
  one.launch({"ends"});
  std::vector<uint8_t> was(one.target->layout(one.pid).size_bytes), now, back(was.size());
  ASSERT_TRUE(one.target->read_registers(one.pid, was).ok());
  now = was;
  uint8_t next = 1;
  std::vector<std::string> changed;
  for (const Register& reg : one.target->layout(one.pid).registers) {
    const std::string& name = reg.name;
    const bool vector = name.starts_with("xmm") || name.starts_with("ymm") ||
                        name.starts_with("zmm") || name.starts_with("st") ||
                        (name[0] == 'k' && name.size() == 2);
    if (!vector && name != "rax" && name != "r15" && name != "rbx") continue;
    changed.push_back(name);
    for (uint32_t i = 0; i < reg.size_bytes; ++i) now[reg.offset + i] = next++ | 1;
  }
  ASSERT_GT(changed.size(), 20u);
  ASSERT_TRUE(one.target->write_registers(one.pid, now).ok());
  ASSERT_EQ(one.step(one.pid).kind, Kind::Stepped);  // the kernel has really loaded them
  ASSERT_TRUE(one.target->read_registers(one.pid, back).ok());
  for (const Register& reg : one.target->layout(one.pid).registers) {
    if (reg.name == "rip" || reg.name == "eflags" || reg.name == "rdi" || reg.name == "ftag" ||
        reg.name == "orig_rax")
      continue;
    EXPECT_EQ(std::memcmp(&now[reg.offset], &back[reg.offset], reg.size_bytes), 0) << reg.name;
  }
}

TEST(LinuxStep, OneInstructionAndARange) {
  Debuggee one;
  one.launch({"ends"});
  const uint64_t marker = one.symbol("marker");
  one.breakpoint(marker);
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(marker);
  EXPECT_EQ(one.step(one.pid).kind, Kind::Stepped);
  EXPECT_EQ(one.pc(one.pid), marker + 1);  // push %rbp
  const uint64_t caller = one.read<uint64_t>(one.register_of(one.pid, "rsp") + 8);
  ResumeAction action;
  action.tid = one.pid;
  action.kind = ResumeAction::Kind::RangeStep;
  action.range_start = marker;
  action.range_end = marker + 64;
  ASSERT_TRUE(one.target->resume({&action, 1}).ok());
  EXPECT_EQ(one.wait().kind, Kind::Stepped);
  EXPECT_EQ(one.pc(one.pid), caller);
}

TEST(LinuxWatch, WriteIsSeenWhereItHappens) {
  if (!has_debug_registers()) GTEST_SKIP() << "debug registers stop nothing here";
  Debuggee one;
  one.launch({"ends"});
  const uint64_t counter = one.symbol("counter");
  one.breakpoint(one.symbol("main"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("main"));
  Breakpoints& points = *one.target->breakpoints();
  ASSERT_TRUE(points.insert(one.pid, Breakpoints::Kind::WriteWatch, counter, 4).ok());
  const StopEvent event = one.go();
  EXPECT_EQ(event.kind, Kind::Watchpoint);
  EXPECT_EQ(event.address, counter);
  ASSERT_TRUE(points.remove(one.pid, Breakpoints::Kind::WriteWatch, counter, 4).ok());
  const uint64_t marker = one.symbol("marker");
  ASSERT_TRUE(points.insert(one.pid, Breakpoints::Kind::Hardware, marker, 1).ok());
  const StopEvent hard = one.go();
  EXPECT_EQ(hard.kind, Kind::Hardware);
  EXPECT_EQ(one.pc(one.pid), marker);
  ASSERT_TRUE(points.remove(one.pid, Breakpoints::Kind::Hardware, marker, 1).ok());
  EXPECT_EQ(one.go().kind, Kind::Exited);
}

TEST(LinuxWatch, FourRegistersAndNoMore) {
  Debuggee one;
  one.launch({"ends"});
  Breakpoints& points = *one.target->breakpoints();
  const uint64_t at = one.symbol("counter") & ~uint64_t{0xff};
  EXPECT_TRUE(points.insert(one.pid, Breakpoints::Kind::WriteWatch, at, 32).ok());
  EXPECT_FALSE(points.insert(one.pid, Breakpoints::Kind::AccessWatch, at + 64, 1).ok());
  EXPECT_TRUE(points.remove(one.pid, Breakpoints::Kind::WriteWatch, at, 32).ok());
  EXPECT_TRUE(points.insert(one.pid, Breakpoints::Kind::AccessWatch, at + 64, 1).ok());
}

TEST(LinuxSignal, TheProgramsOwnTrapIsASignal) {
  Debuggee one;
  one.launch({"ends", "trap", "3"});
  const StopEvent event = one.go();
  EXPECT_EQ(event.kind, Kind::Signal);
  EXPECT_EQ(event.signal, SIGTRAP);
  EXPECT_EQ(one.read<uint8_t>(one.pc(event.tid) - 1), 0xcc);
  EXPECT_EQ(one.go().exit_code, 3);
}

TEST(LinuxSignal, SiginfoOfAFault) {
  Debuggee one;
  one.launch({"ends", "segv"});
  EXPECT_EQ(one.go().signal, SIGSEGV);
  auto bytes = one.target->signals()->read_siginfo(one.told);
  ASSERT_TRUE(bytes.ok());
  siginfo_t info;
  ASSERT_EQ(bytes->size(), sizeof info);
  std::memcpy(&info, bytes->data(), sizeof info);
  EXPECT_EQ(info.si_addr, reinterpret_cast<void*>(8));
  EXPECT_EQ(one.go(SIGSEGV).kind, Kind::Signalled);
}

TEST(LinuxInterrupt, WakeThenInterrupt) {
  Debuggee one;
  one.launch({"ends", "sleep"});
  one.resume_all();
  for (int i = 0; i < 50; ++i) {
    const Watchdog watchdog(30);
    std::thread other([&] { one.target->wake(); });
    auto woken = one.target->wait();
    other.join();
    ASSERT_TRUE(woken.ok());
    ASSERT_FALSE(woken->has_value());
  }
  ASSERT_TRUE(one.target->interrupt().ok());
  EXPECT_EQ(one.wait().kind, Kind::Interrupted);
  one.resume_all();
  ASSERT_TRUE(one.target->interrupt().ok());
  EXPECT_EQ(one.wait().kind, Kind::Interrupted);
  EXPECT_TRUE(one.target->process_control()->kill(one.pid).ok());
  EXPECT_TRUE(one.target->processes().empty());
}

TEST(LinuxFacts, ModulesLibrariesAuxvReadOnly) {
  Debuggee one;
  one.launch({"ends"});
  ProcessFacts& facts = *one.target->facts();
  EXPECT_EQ(facts.modules(one.pid)->size(), 1u);
  EXPECT_EQ(*facts.libraries_svr4(one.pid), "<library-list-svr4 version=\"1.0\"/>");
  EXPECT_GT(facts.auxv(one.pid)->size(), 100u);
  EXPECT_EQ(*facts.exec_file(one.pid), inferior("ends"));
  const uint64_t main = one.symbol("main");
  one.breakpoint(main);
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  const auto modules = *facts.modules(one.pid);
  ASSERT_GE(modules.size(), 2u);
  EXPECT_EQ(modules[0].path, inferior("ends"));
  EXPECT_LE(modules[0].start, main);
  EXPECT_GT(modules[0].start + modules[0].size_bytes, main);
  for (const Module& module : modules) {
    auto file = symbols::Image::open(module.path);
    if (!file) continue;  // the vdso
    EXPECT_FALSE(module.build_id.empty()) << module.path;
    EXPECT_EQ(module.build_id, (*file)->facts().build_id) << module.path;
  }
  const std::string list = *facts.libraries_svr4(one.pid);
  EXPECT_NE(list.find("main-lm=\"0x"), std::string::npos) << list;
  EXPECT_NE(list.find("libc.so"), std::string::npos) << list;
  EXPECT_TRUE(facts.read_only(one.pid, main, 16));
  EXPECT_FALSE(facts.read_only(one.pid, one.symbol("counter"), 4));
  EXPECT_FALSE(facts.read_only(one.pid, 8, 4));
}

TEST(LinuxFacts, WhoAProcessIs) {
  Debuggee one, other;
  one.launch({"ends"});
  other.launch({"ends"});
  const Process first = one.target->facts()->identity(one.pid);
  const Process second = other.target->facts()->identity(other.pid);
  EXPECT_EQ(first.pid, static_cast<uint32_t>(one.pid));
  EXPECT_EQ(first.image, inferior("ends"));
  EXPECT_FALSE(first.host.empty());
  EXPECT_EQ(first.boot.size(), 16u);
  ASSERT_TRUE(first.start_ns && second.start_ns);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const uint64_t now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
                          static_cast<uint64_t>(now.tv_nsec);
  EXPECT_LE(*first.start_ns, *second.start_ns);
  EXPECT_LE(*second.start_ns, now_ns);
  EXPECT_GT(*first.start_ns, now_ns - 600'000'000'000) << "ten minutes for two launches";
  ASSERT_TRUE(identity_of(first));
  EXPECT_NE(identity_of(first), identity_of(second));
}

TEST(LinuxFacts, AStaticProgramHasNoListOfLibraries) {
  Debuggee one;
  one.launch({"alone"});
  EXPECT_FALSE(one.target->facts()->libraries_svr4(one.pid).ok());
  EXPECT_EQ(one.target->facts()->modules(one.pid)->size(), 1u);
  EXPECT_EQ(one.go().exit_code, 3);
}

}  // namespace
}  // namespace tracewell::target
