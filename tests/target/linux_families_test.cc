// Children, new programs, attaching and letting go.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sanitized.h"
#include "target/debuggee.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

TEST(LinuxFamilies, ChildrenThatNobodyAskedForRunUntouched) {
  const std::map<std::string, uint64_t> own_hits = {{"fork", 4}, {"vfork", 4},  {"spawn", 4},
                                                    {"share", 4}, {"system", 4}};
  for (const auto& [what, hits] : own_hits)
    for (const bool map_memory : {true, false}) {
      SCOPED_TRACE(what);
      Debuggee one(LinuxOptions{.map_memory = map_memory});
      one.launch({"families", what});
      one.target->signals()->pass_signals({SIGCHLD});
      one.site(one.symbol("marker"));
      const StopEvent end = one.go();
      EXPECT_EQ(end.kind, Kind::Exited);
      EXPECT_EQ(end.exit_code, 0);
      EXPECT_EQ(one.handler.total(), hits);
    }
}

TEST(LinuxFamilies, BreakpointsDoNotStopSharingChildren) {
  for (const char* what : {"vfork", "share", "fork"}) {
    SCOPED_TRACE(what);
    Debuggee one;
    one.launch({"families", what});
    one.target->signals()->pass_signals({SIGCHLD});
    const uint64_t marker = one.symbol("marker");
    for (int i = 0; i < 4; ++i) {
      one.breakpoint(marker);
      ASSERT_EQ(one.go().kind, Kind::Breakpoint);
      EXPECT_EQ(one.told, one.pid);
      one.remove_breakpoint(marker);
      ASSERT_EQ(one.step(one.told).kind, Kind::Stepped);
    }
    EXPECT_EQ(one.go().exit_code, 0);
  }
}

TEST(LinuxFamilies, ForkIsToldAndTheChildCanBeDebugged) {
  Debuggee one;
  one.launch({"families", "fork"});
  one.target->process_control()->report_forks(true, true, true);
  one.target->signals()->pass_signals({SIGCHLD});
  const uint64_t marker = one.symbol("marker");
  one.site(marker);
  const StopEvent fork = one.go();
  ASSERT_EQ(fork.kind, Kind::Fork);
  EXPECT_EQ(fork.pid, one.pid);
  ASSERT_EQ(one.target->processes().size(), 2u);
  ASSERT_EQ(one.target->threads(fork.child_pid).size(), 1u);
  EXPECT_NE(one.register_of(fork.child_pid, "rip"), 0u);
  uint8_t first = 0, raw = 0;
  one.target->read_memory(fork.child_pid, marker, {&first, 1});
  std::ifstream file("/proc/" + std::to_string(fork.child_pid) + "/mem", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(marker));
  file.read(reinterpret_cast<char*>(&raw), 1);
  EXPECT_EQ(first, raw);  // no site in the child
  bool child_over = false;
  for (int i = 0; i < 2; ++i) {
    const StopEvent end = one.go();
    EXPECT_EQ(end.kind, Kind::Exited);
    child_over |= end.pid == fork.child_pid && end.exit_code == 13;
    if (end.pid == one.pid) {
      EXPECT_EQ(end.exit_code, 0);
    }
  }
  EXPECT_TRUE(child_over);
  EXPECT_EQ(one.handler.total(), 4u);
}

TEST(LinuxFamilies, VforkIsToldWithItsEnd) {
  for (const bool detach : {false, true}) {
    Debuggee one;
    one.launch({"families", "vfork"});
    one.target->process_control()->report_forks(true, true, true);
    one.target->signals()->pass_signals({SIGCHLD});
    one.site(one.symbol("marker"));
    const StopEvent vfork = one.go();
    ASSERT_EQ(vfork.kind, Kind::Vfork);
    if (detach) {
      EXPECT_TRUE(one.target->process_control()->detach(vfork.child_pid).ok());
      EXPECT_EQ(one.target->processes().size(), 1u);
    }
    std::vector<Kind> kinds;
    for (StopEvent event = one.go();; event = one.go()) {
      kinds.push_back(event.kind);
      if (event.kind == Kind::Exited && event.pid == one.pid) {
        EXPECT_EQ(event.exit_code, 0);
        break;
      }
      ASSERT_LT(kinds.size(), 10u);
    }
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::VforkDone), 1);
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::Exited), detach ? 1 : 2);
    EXPECT_EQ(one.handler.hits.begin()->second, detach ? 4u : 5u);
  }
}

TEST(LinuxFamilies, ReturnOfAVforkThatWasNotWatchedFromItsStart) {
  constexpr int64_t kVfork = 58;
  // GDB catches nothing while it follows: it asks again at the vfork, or at its end.
  for (const bool at_once : {false, true}) {
    Debuggee one;
    one.launch({"families", "vfork"});
    one.target->process_control()->report_forks(true, true, true);
    one.target->signals()->pass_signals({SIGCHLD});
    const StopEvent vfork = one.go();
    ASSERT_EQ(vfork.kind, Kind::Vfork);
    ASSERT_TRUE(one.target->process_control()->detach(vfork.child_pid).ok());
    SystemCalls& calls = *one.target->system_calls();
    ASSERT_TRUE(calls.catch_system_calls(one.pid, at_once, {}).ok());
    ASSERT_EQ(one.go().kind, Kind::VforkDone);
    ASSERT_TRUE(calls.catch_system_calls(one.pid, true, {}).ok());
    const StopEvent back = one.go();
    EXPECT_EQ(back.kind, Kind::SystemCallReturn);
    EXPECT_EQ(back.system_call, kVfork);
  }
}

TEST(LinuxFamilies, RegistersOfAThreadThatWaitsForItsVforkChild) {
  Debuggee one;
  one.launch({"families", "spawn"});
  one.target->process_control()->report_forks(false, true, true);
  one.target->signals()->pass_signals({SIGCHLD});
  ASSERT_EQ(one.go().kind, Kind::Vfork);
  const uint64_t sp = one.register_of(one.pid, "rsp");
  ResumeAction parent_only;
  parent_only.tid = one.pid;
  ASSERT_TRUE(one.target->resume({&parent_only, 1}).ok());
  ASSERT_TRUE(one.target->interrupt().ok());
  EXPECT_EQ(one.wait().kind, Kind::Interrupted);
  EXPECT_EQ(one.register_of(one.pid, "rsp"), sp);
  StopEvent event = one.go();
  if (event.kind == Kind::VforkDone) event = one.go();  // they race
  ASSERT_EQ(event.kind, Kind::Exec);
  EXPECT_NE(event.pid, one.pid);
  EXPECT_EQ(event.path, inferior("families"));
}

TEST(LinuxFamilies, ExecIsToldOrNot) {
  for (const char* what : {"exec", "thread-exec"})
    for (const bool tell : {false, true}) {
      SCOPED_TRACE(what);
      Debuggee one;
      one.launch({"families", what});
      one.target->process_control()->report_forks(false, false, tell);
      one.site(one.symbol("marker"));
      StopEvent event = one.go();
      if (tell) {
        ASSERT_EQ(event.kind, Kind::Exec);
        EXPECT_EQ(event.pid, one.pid);
        EXPECT_EQ(event.tid, one.pid);
        EXPECT_EQ(one.target->threads(one.pid).size(), 1u);
        const uint64_t marker = one.symbol("marker");
        one.handler.hits.clear();
        one.site(marker);
        one.breakpoint(one.symbol("main"));
        ASSERT_EQ(one.go().kind, Kind::Breakpoint);
        one.remove_breakpoint(one.symbol("main"));
        event = one.go();
      }
      EXPECT_EQ(event.kind, Kind::Exited);
      EXPECT_EQ(event.exit_code, 17);
      EXPECT_EQ(one.handler.total(), 3u);
    }
}

/// Whether a probe is wanted stands in the memory of the program that was asked, and in its forks'
/// copies of that, which nobody asked.
TEST(LinuxFamilies, CountsAreRaisedInOneMemory) {
  Debuggee one;
  one.launch({"families", "fork"});
  one.target->process_control()->report_forks(true, true, true);
  one.target->signals()->pass_signals({SIGCHLD});
  const uint64_t counter = one.symbol("counter");
  TraceSites& sites = *one.target->trace_sites();
  sites.raise_count(one.pid, counter);
  sites.raise_count(one.pid, counter);
  EXPECT_EQ(one.read<int>(counter), 2);
  const StopEvent fork = one.go();
  ASSERT_EQ(fork.kind, Kind::Fork);
  const auto of_child = [&] {
    int value = 0;
    one.target->read_memory(fork.child_pid, counter,
                            {reinterpret_cast<uint8_t*>(&value), sizeof value});
    return value;
  };
  EXPECT_EQ(one.read<int>(counter), 5);
  EXPECT_EQ(of_child(), 3);
  sites.lower_count(fork.child_pid, counter);
  EXPECT_EQ(of_child(), 3);
  for (const int left : {4, 3, 3, 3}) {
    sites.lower_count(one.pid, counter);
    EXPECT_EQ(one.read<int>(counter), left);
  }
  EXPECT_EQ(one.go().exit_code, 13);
  EXPECT_EQ(one.go().exit_code, 0);
}

TEST(LinuxFamilies, CountsOfAnotherProgramAreItsOwn) {
  Debuggee one;
  one.launch({"families", "exec"});
  one.target->process_control()->report_forks(false, false, true);
  TraceSites& sites = *one.target->trace_sites();
  sites.raise_count(one.pid, one.symbol("counter"));
  ASSERT_EQ(one.go().kind, Kind::Exec);
  const uint64_t counter = one.symbol("counter");
  const std::vector<uint8_t> five = {5, 0};
  ASSERT_TRUE(one.target->write_memory(one.pid, counter, five).ok());
  sites.lower_count(one.pid, counter);
  EXPECT_EQ(one.read<int>(counter), 5);
}

TEST(LinuxFamilies, CountsAreLoweredInWhatIsLetGo) {
  Debuggee one;
  one.launch({"families", "fork"});
  one.target->trace_sites()->raise_count(one.pid, one.symbol("counter"));
  ASSERT_TRUE(one.target->process_control()->detach(one.pid).ok());
  int status = 0;
  const Watchdog watchdog(30, "the end of a program");
  ASSERT_EQ(waitpid(static_cast<pid_t>(one.pid), &status, 0), one.pid);
  EXPECT_EQ(status, 0) << "its child counts what it executes, and the parent knows it";
}

/// Somebody else may have cleared it.
TEST(LinuxFamilies, CountsThatAreZeroAreNotLowered) {
  Debuggee one;
  one.launch({"families", "fork"});
  const uint64_t counter = one.symbol("counter");
  one.target->trace_sites()->raise_count(one.pid, counter);
  const std::vector<uint8_t> zero = {0, 0};
  ASSERT_TRUE(one.target->write_memory(one.pid, counter, zero).ok());
  one.target->trace_sites()->lower_count(one.pid, counter);
  EXPECT_EQ(one.read<int>(counter), 0);
}

TEST(LinuxAttach, SaysWhyNot) {
  Debuggee one;
  Processes& processes = *one.target->process_control();
  auto none = processes.attach(0x3ffffff);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("no process"), std::string::npos);
  const Pid zombie = start_untraced({"ends", "exit", "0"});
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT);
  auto dead = processes.attach(zombie);
  ASSERT_FALSE(dead.ok());
  EXPECT_NE(dead.error().message.find("zombie"), std::string::npos);
  waitpid(static_cast<pid_t>(zombie), nullptr, 0);
  one.launch({"ends", "sleep"});
  Debuggee two;
  auto traced = two.target->process_control()->attach(one.pid);
  ASSERT_FALSE(traced.ok());
  EXPECT_NE(traced.error().message.find("traced by process " + std::to_string(getpid())),
            std::string::npos)
      << traced.error().message;
  EXPECT_FALSE(one.target->process_control()->attach(one.pid).ok());
  EXPECT_FALSE(processes.attach(getpid()).ok());
}

int end_of(Pid child, int signal) {
  const Watchdog watchdog(30, "the end of a program");
  kill(static_cast<pid_t>(child), signal);
  int status = 0;
  waitpid(static_cast<pid_t>(child), &status, 0);
  return status;
}

char state_of(Pid pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.at(text.rfind(')') + 2);
}

void await_threads(Pid pid, size_t count) {
  const Watchdog watchdog(30, "threads");
  for (;;) {
    size_t found = 0;
    for ([[maybe_unused]] const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
      ++found;
    if (found == count) return;
    std::this_thread::yield();
  }
}

/// Until all its threads wait for something: state S of /proc/PID/task/TID/stat, behind the name.
void await_sleep(Pid pid) {
  const Watchdog watchdog(30, "sleep");
  for (bool all = false; !all;) {
    all = true;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      std::ifstream stat(task.path() / "stat");
      std::string line;
      std::getline(stat, line);
      const size_t name = line.rfind(") ");
      all = all && name != line.npos && line.compare(name + 2, 1, "S") == 0;
    }
    std::this_thread::yield();
  }
}

TEST(LinuxAttach, FindsAllThreadsAndLetsGo) {
  const Pid child = start_untraced({"hammer", "4", "0"});
  await_threads(child, 5);
  {
    Debuggee one;
    const StopEvent event = one.attach(child);
    EXPECT_EQ(event.kind, Kind::Signal);
    EXPECT_EQ(event.signal, 0);
    EXPECT_EQ(one.target->threads(child).size(), 5u);
    EXPECT_TRUE(one.target->processes()[0].attached);
    one.site(one.symbol("site_push"));
    one.resume_all();
    one.target->wake();
    const Watchdog watchdog(30);
    while (one.handler.total() < 1000) {
      one.target->wake();
      ASSERT_TRUE(one.target->wait().ok());
    }
  }  // detaches
  EXPECT_NE(state_of(child), 't');
  EXPECT_NE(state_of(child), 'T');
  EXPECT_EQ(WEXITSTATUS(end_of(child, SIGTERM)), 44);
}

TEST(LinuxAttach, AProcessThatJobControlStoppedStaysStopped) {
  const Pid child = start_untraced({"hammer", "2", "0"});
  await_threads(child, 3);
  kill(static_cast<pid_t>(child), SIGSTOP);
  waitpid(static_cast<pid_t>(child), nullptr, WUNTRACED);
  {
    Debuggee one;
    one.attach(child);
    EXPECT_NE(one.pc(child), 0u);
    one.resume_all();
    ASSERT_TRUE(one.target->interrupt().ok());
    EXPECT_EQ(one.wait().kind, Kind::Interrupted);
    ASSERT_TRUE(one.target->process_control()->detach(child).ok());
  }
  {  // it walks back into its stop by itself
    const Watchdog watchdog(30, "the stop");
    while (state_of(child) != 'T') std::this_thread::yield();
  }
  kill(static_cast<pid_t>(child), SIGCONT);
  EXPECT_EQ(WEXITSTATUS(end_of(child, SIGTERM)), 44);
}

TEST(LinuxAttach, JobControlIsTransparent) {
  Debuggee one;
  one.launch({"hammer", "2", "0"});
  one.site(one.symbol("site_push"));
  one.target->signals()->pass_signals({SIGSTOP, SIGCONT, SIGTERM});
  const Watchdog watchdog(60);
  const auto run_a_moment = [&] {
    std::thread ringer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      one.target->wake();
    });
    auto event = one.target->wait();
    ringer.join();
    ASSERT_TRUE(event.ok() && !event->has_value());
  };
  one.resume_all();
  run_a_moment();
  for (int i = 0; i < 3; ++i) {
    kill(static_cast<pid_t>(one.pid), SIGSTOP);
    uint64_t standing = 0;
    do {  // the last hits before the stop are still to be seen
      standing = one.handler.total();
      run_a_moment();
    } while (one.handler.total() != standing);
    run_a_moment();
    EXPECT_EQ(one.handler.total(), standing);
    kill(static_cast<pid_t>(one.pid), SIGCONT);
    while (one.handler.total() == standing) run_a_moment();
  }
  kill(static_cast<pid_t>(one.pid), SIGTERM);
  const StopEvent end = one.wait();
  EXPECT_EQ(end.kind, Kind::Exited) << end.signal;
  EXPECT_EQ(end.exit_code, 44);
}

TEST(LinuxDetach, PendingSignalsAreDelivered) {
  const Pid child = start_untraced({"hammer", "4", "0"});
  await_threads(child, 5);
  {
    Debuggee one;
    one.attach(child);
    one.resume_all();
    kill(static_cast<pid_t>(child), SIGTERM);
    const StopEvent event = one.wait();
    EXPECT_EQ(event.kind, Kind::Signal);
    EXPECT_EQ(event.signal, SIGTERM);
    ASSERT_TRUE(one.target->process_control()->detach(child).ok());
  }
  const int end = end_of(child, 0);
  EXPECT_TRUE(WIFEXITED(end)) << end;
  EXPECT_EQ(WEXITSTATUS(end), 44);
}

/// Our pages in the program: executable, private, of no file.
size_t nameless_code(Pid pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(" r-xp ") != line.npos && line.find(" 00:00 0") != line.npos &&
             line.find('[') == line.npos;
  return count;
}

TEST(LinuxDetach, NothingOfOursStaysEvenWhenAllThreadsSleep) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Pid child = start_untraced({"syscalls", "asked"}, ends[1]);
  {
    Debuggee one;
    await_threads(child, 2);
    await_sleep(child);
    one.attach(child);
    const uint64_t site = one.symbol("site_after");
    const uint8_t first = one.read<uint8_t>(site);
    one.site(site);
    EXPECT_EQ(nameless_code(child), 1u);
    EXPECT_EQ(one.read<uint8_t>(site), first);
  }
  EXPECT_EQ(nameless_code(child), 0u);
  const int status = end_of(child, SIGUSR1);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  close(ends[0]);
  close(ends[1]);
}

TEST(LinuxExit, KilledFromOutside) {
  Debuggee one;
  one.launch({"hammer", "3", "0"});
  one.site(one.symbol("site_push"));
  one.resume_all();
  kill(static_cast<pid_t>(one.pid), SIGKILL);
  const StopEvent end = one.wait();
  EXPECT_EQ(end.kind, Kind::Signalled);
  EXPECT_EQ(end.signal, SIGKILL);
  Debuggee two;
  two.launch({"hammer", "3", "0"});
  kill(static_cast<pid_t>(two.pid), SIGKILL);
  EXPECT_EQ(two.go().kind, Kind::Signalled);
}

Pid child_of(Pid pid) {
  const Watchdog watchdog(30, "a child");
  for (;;) {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
    if (Pid child = 0; file >> child) return child;
    std::this_thread::yield();
  }
}

TEST(LinuxAttach, FindsThoseThatShareTheMemory) {
  const Pid program = start_untraced({"families", "share-for-ever"});
  const Pid child = child_of(program);
  const Pid grandchild = child_of(child);
  for (int i = 0; i < 20; ++i) {
    Debuggee one;
    one.attach(program);
    EXPECT_EQ(one.target->processes().size(), 1u);
    one.site(one.symbol("marker"));
    const int before = one.read<int>(one.symbol("counter"));
    one.resume_all();
    const auto untold = [&] {
      return one.read<int>(one.symbol("counter")) - before - static_cast<int>(one.handler.total());
    };
    // The others run, too, whenever they get their turn on a busy machine.
    const Watchdog watchdog(120);
    while (one.handler.total() < 50 || untold() < 10) {
      one.target->wake();
      ASSERT_TRUE(one.target->wait().ok());
    }
    ASSERT_TRUE(one.target->interrupt().ok());
    EXPECT_EQ(one.wait().kind, Kind::Interrupted);
    EXPECT_GT(untold(), 0) << "the others ran, untold";
  }
  for (const Pid pid : {program, child, grandchild}) EXPECT_NE(state_of(pid), 'Z') << pid;
  EXPECT_EQ(WTERMSIG(end_of(program, SIGKILL)), SIGKILL);
}

/// A thread is born at almost every moment, and many of the kills meet its creator inside clone.
TEST(LinuxExit, KilledWhileThreadsAreBorn) {
  std::mt19937 random(11);
  for (size_t i = 0; i < 200; i += tracewell::test::kEach) {
    Debuggee one;
    one.launch({"churn", "1000000"});
    one.resume_all();
    const timespec pause{0, static_cast<long>(random() % 2'000'000)};
    nanosleep(&pause, nullptr);
    kill(static_cast<pid_t>(one.pid), SIGKILL);
    const StopEvent end = one.wait();
    ASSERT_EQ(end.kind, Kind::Signalled) << i;
    ASSERT_EQ(end.signal, SIGKILL) << i;
  }
}

class LinuxDetachAtRandom : public testing::TestWithParam<bool> {};

TEST_P(LinuxDetachAtRandom, TheProgramLives) {
  const Pid child = start_untraced({"hammer", "3", "0"});
  await_threads(child, 4);
  std::mt19937 random(7);
  const std::vector<std::string> sites = {"site_push", "site_call", "site_icall", "site_loop",
                                          "site_rep",  "mix",       "site_ret"};
  Debuggee one(LinuxOptions{.map_memory = GetParam()});
  const int times = GetParam() ? 200 : 40;  // stepping in place is slow
  for (int i = 0; i < times; ++i) {
    const Watchdog watchdog(30);
    one.attach(child);
    for (const std::string& site : sites)
      if (random() % 2 == 0) one.site(one.symbol(site));
    one.resume_all();
    const auto pause = std::chrono::microseconds(random() % 3000);
    std::thread ringer([&] {
      std::this_thread::sleep_for(pause);
      one.target->wake();
    });
    auto event = one.target->wait();
    ringer.join();
    ASSERT_TRUE(event.ok());
    ASSERT_FALSE(event->has_value());
    ASSERT_TRUE(one.target->process_control()->detach(child).ok());
    ASSERT_EQ(kill(static_cast<pid_t>(child), 0), 0);
  }
  EXPECT_GT(one.handler.total(), static_cast<uint64_t>(times));
  EXPECT_EQ(WEXITSTATUS(end_of(child, SIGTERM)), 44);
}

INSTANTIATE_TEST_SUITE_P(, LinuxDetachAtRandom, testing::Bool(), [](const auto& param) {
  return param.param ? "Copies" : "InPlace";
});

TEST(LinuxWait, ChildrenOfOthersKeepTheirStatus) {
  Debuggee one;
  one.launch({"ends", "exit", "4"});
  const Pid other = start_untraced({"ends", "exit", "6"});
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(one.go().exit_code, 4);
  int status = 0;
  ASSERT_EQ(waitpid(static_cast<pid_t>(other), &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

/// Threads that are stepped in place stop each other, and what is ready may never end.
TEST(LinuxWait, AWakeIsHeardHoweverManyThreadsStop) {
  Debuggee one(LinuxOptions{.map_memory = false});
  one.launch({"hammer", "3", "0"});
  for (const char* site : {"site_push", "site_call", "site_icall", "site_loop", "site_rep", "mix",
                           "site_ret"})
    one.site(one.symbol(site));
  one.resume_all();
  const Watchdog watchdog(60);
  while (one.handler.total() < 1000) {
    one.target->wake();
    ASSERT_TRUE(one.target->wait().ok());
  }
  uint64_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint64_t before = one.handler.total();
    one.target->wake();
    auto event = one.target->wait();
    ASSERT_TRUE(event.ok());
    ASSERT_FALSE(event->has_value());
    most = std::max(most, one.handler.total() - before);
  }
  EXPECT_LE(most, 4u);  // one of each thread
}

}  // namespace
}  // namespace tracewell::target
