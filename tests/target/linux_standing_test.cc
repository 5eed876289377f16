// How long a program, or the tracer, is held up: by work that could be done at another time, and by
// threads that do not stop.
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/debuggee.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/programs/programs.h"
#include "target/linux/tracer.h"

namespace tracewell::target {
namespace {

using live::Tracer;

/// A process of ours that ends with the test, and can be told to go on by a byte.
class Started {
 public:
  explicit Started(const std::vector<std::string>& words) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[0], 0);
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      if (words.empty())
        for (;;) pause();
      execv(inferior(words[0]).c_str(), argv.data());
      _exit(1);
    }
    close(ends[0]);
    input_ = UniqueFd(ends[1]);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Pid pid() const { return pid_; }
  void tell() const { EXPECT_EQ(write(input_.get(), "x", 1), 1); }
  std::vector<Tid> threads(size_t count) const {
    for (;;) {
      std::vector<Tid> found = live::task_ids(pid_);
      if (found.size() == count) return found;
      usleep(1000);
    }
  }

 private:
  pid_t pid_ = 0;
  UniqueFd input_;
};

/// What an attach to a program with some threads did while they stood.
uint64_t work_of_attach() {
  const Watchdog watchdog(60, "attaching");
  const Started program({"crowd", "4"});
  program.threads(5);
  Debuggee one;
  EXPECT_EQ(one.attach(program.pid()).kind, StopEvent::Kind::Signal);
  const uint64_t took = live::work_standing;
  EXPECT_TRUE(one.target->process_control()->detach(program.pid()).ok());
  return took;
}

TEST(LinuxStanding, DoesNotLookAtEveryProcessOfTheMachine) {
  constexpr int kOthers = 200;
  const uint64_t alone = work_of_attach();
  std::vector<std::unique_ptr<Started>> others;
  for (int i = 0; i < kOthers; ++i)
    others.push_back(std::make_unique<Started>(std::vector<std::string>()));
  const uint64_t beside = work_of_attach();
  EXPECT_GT(alone, 0u);
  EXPECT_LT(beside, alone + kOthers / 2) << "alone: " << alone;
}

TEST(LinuxStanding, DoesNotWaitForAThreadInTheKernel) {
  const Watchdog watchdog(60, "holding one");
  constexpr std::chrono::milliseconds kMost(500);  // ten times as long, on a machine that is busy
  const Started program({"stuck", "untraced"});
  const Tid stuck = program.threads(2)[1];
  Tracer tracer{LinuxOptions{}};
  live::Programs programs(tracer);
  tracer.one_by_one().set(true);
  ASSERT_TRUE(programs.attach(program.pid()).ok());
  program.tell();
  while (live::proc_status(stuck)->state != 'D') usleep(1000);
  live::AddressSpace& space = *tracer.core().threads.find_process(program.pid())->space;
  for (bool held = false; !held;) {
    const auto begin = std::chrono::steady_clock::now();
    tracer.one_by_one().hold_one(space);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kMost);
    const live::Thread* const thread = tracer.core().injector.injectable(space);
    held = thread != nullptr;
    EXPECT_TRUE(!held || thread->tid == program.pid());
  }
  EXPECT_EQ(tracer.core().threads.find(stuck)->run, live::Run::Running) << "it does not stop";
  tracer.one_by_one().let_on();
  const auto child = live::read_proc(stuck, fmt::format("task/{}/children", stuck).c_str());
  ASSERT_TRUE(child.has_value());
  ::kill(std::stoi(*child), SIGKILL);  // and it comes back
}

int niceness() { return getpriority(PRIO_PROCESS, 0); }

TEST(LinuxStanding, GoesBeforeOthersWhileAProgramWaitsForIt) {
  const int usual = niceness();
  const bool may = setpriority(PRIO_PROCESS, 0, usual - 1) == 0;
  ASSERT_TRUE(!may || setpriority(PRIO_PROCESS, 0, usual) == 0);
  const Watchdog watchdog(60, "attaching");
  const Started program({"crowd", "4"});
  program.threads(5);
  std::vector<int> seen;  // while the program is to stand still
  Tracer tracer(LinuxOptions{}, [&seen] {
    seen.push_back(niceness());
    return false;
  });
  live::Programs programs(tracer);
  ASSERT_TRUE(programs.attach(program.pid()).ok());
  ASSERT_FALSE(seen.empty());
  for (const int nice : seen) EXPECT_EQ(nice < usual, may) << "only who may goes before others";
  EXPECT_EQ(niceness(), usual);
}

}  // namespace
}  // namespace tracewell::target
