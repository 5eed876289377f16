// Wait statuses of threads that are traced, with nobody who says what they mean.
#include "target/linux/stops/stop_collector.h"

#include <cerrno>
#include <csignal>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/debuggee.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

/// A child that does nothing, traced by us.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0)
      for (;;) pause();
    EXPECT_EQ(trace(PTRACE_SEIZE, pid_, 0, uint64_t{PTRACE_O_EXITKILL}), 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, __WALL);
  }
  Pid pid() const { return pid_; }
  void ask() const { EXPECT_EQ(trace(PTRACE_INTERRUPT, pid_, 0, uint64_t{0}), 0); }

 private:
  pid_t pid_;
};

class Collects : public testing::Test, ThreadTable::Watcher, StopCollector::Receiver {
 protected:
  Collects() { EXPECT_TRUE(stops_.prepare().ok()); }
  void add(Pid pid) { table_.add_thread(table_.add_process(pid, nullptr), pid).run = Run::Running; }

  void on_added(Thread&) override {}
  void on_removal(Thread&) override {}
  void on_process_removed() override {}
  void on_status(Tid tid, int status) override {
    statuses_[tid] = status;
    if (Thread* thread = table_.find(tid)) thread->run = Run::Stopped;
    if (WIFSTOPPED(status)) stops_.add_ready(tid);
  }
  std::vector<Tid> others() const override { return {}; }
  void on_lingering(Tid) override { ++lingering_; }

  const Watchdog watchdog_{60, "a wait status"};
  const std::function<bool()> never_;
  ThreadTable table_{*this};
  StopCollector stops_{table_, *this, never_};
  std::map<Tid, int> statuses_;
  int lingering_ = 0;
};

TEST_F(Collects, TheStopThatIsAwaited) {
  const Sleeper one;
  add(one.pid());
  EXPECT_EQ(stops_.await_within(one.pid(), kMilli), Waited::GaveUp) << "nobody has asked it";
  one.ask();
  EXPECT_EQ(stops_.await_within(one.pid(), 30 * kSecond), Waited::Stopped);
  EXPECT_EQ(stop_event(statuses_[one.pid()]), kEventStop);
  EXPECT_EQ(stops_.await_within(one.pid() + 1, kMilli), Waited::Gone) << "it is in no table";
}

TEST_F(Collects, StopsInTheOrderInWhichTheyCame) {
  const Sleeper one, two;
  add(one.pid());
  add(two.pid());
  for (const Sleeper* each : {&two, &one}) {
    each->ask();
    EXPECT_EQ(stops_.await_within(each->pid(), 30 * kSecond), Waited::Stopped);
  }
  ASSERT_EQ(stops_.ready(), 2U);
  EXPECT_EQ(stops_.take_next_ready(), two.pid());
  EXPECT_EQ(stops_.take_next_ready(), one.pid());
  EXPECT_EQ(stops_.ready(), 0U);
}

/// It was let go: nobody wants to hear of it.
TEST_F(Collects, NoEndOfOneThatIsDying) {
  const Sleeper one;
  ::kill(static_cast<pid_t>(one.pid()), SIGKILL);
  stops_.add_dying(one.pid());
  EXPECT_TRUE(stops_.is_dying(one.pid()));
  stops_.see_off();
  EXPECT_FALSE(stops_.is_dying(one.pid()));
  EXPECT_TRUE(statuses_.empty()) << "to nobody";
  EXPECT_EQ(lingering_, 0);
}

/// A status of a child of somebody else's is theirs, whatever else there is to wait for.
TEST_F(Collects, NothingOfOthersChildren) {
  const pid_t other = fork();
  if (other == 0) _exit(7);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT), 0);
  const Sleeper one;
  add(one.pid());
  stops_.look_for_foreign_children();
  one.ask();
  EXPECT_EQ(stops_.await_within(one.pid(), 30 * kSecond), Waited::Stopped);
  EXPECT_FALSE(statuses_.contains(other));
  int status = 0;
  EXPECT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace tracewell::target::live
