// What a process has left of its components is dead, whoever has the number of that process by now.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files/paths.h"
#include "hooks/components/components.h"
#include "hooks/programs/own_process.h"
#include "hooks/rings/ring_file.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

class LeftComponents : public testing::Test {
 protected:
  ~LeftComponents() override {
    kill(other_, SIGKILL);
    World::wait_for(other_);
  }

  /// A process of that user's.
  void begin(uid_t user) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    other_ = fork();
    if (other_ == 0) {
      if (setresuid(user, user, user) != 0 || ::write(ends[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }

  /// The file of a process that had the number of this one, and began then. Its component is in
  /// that slot, and may say another one.
  void leave(uint32_t start, size_t slot = 0) {
    tracewell_component one{};
    one.used = TRACEWELL_COMPONENT_USED;
    one.slot = 1000;
    one.pid = static_cast<uint32_t>(other_);
    one.start = start;
    std::vector<char> pages((slot + 1) * TRACEWELL_HOOK_PAGE);
    std::memcpy(pages.data() + slot * TRACEWELL_HOOK_PAGE, &one, sizeof one);
    const std::string folder = parent_of(world_.control().path()) + "/" + TRACEWELL_COMPONENTS_NAME;
    fs::create_directories(folder);
    file_ = fmt::format("{}/{}-7", folder, other_);
    std::ofstream(file_, std::ios::binary)
        .write(pages.data(), static_cast<std::streamsize>(pages.size()));
  }

  void expect(bool lives) const {
    const auto all = all_components();
    ASSERT_TRUE(all.ok() && all->size() == 1);
    EXPECT_EQ(all->front().process_lives(), lives);
    const auto dead = forget_dead_components();
    ASSERT_TRUE(dead.ok()) << dead.error().text();
    EXPECT_EQ(*dead, lives ? 0u : 1u);
    EXPECT_EQ(fs::exists(file_), lives);
  }

  uint32_t start() const {
    return static_cast<uint32_t>(start_of_process(static_cast<uint32_t>(other_)));
  }

  World world_;
  pid_t other_ = -1;
  std::string file_;
};

TEST_F(LeftComponents, AnotherUserHasTheNumber) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  begin(65534);
  for (const uint32_t began : {0u, start() - 1}) {
    leave(began);
    expect(false);
  }
}

// As a daemon does that began as root.
TEST_F(LeftComponents, TheProcessHasBecomeAnotherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  begin(65534);
  leave(start());
  expect(true);
}

// The kernel calls it a zombie as a whole.
TEST_F(LeftComponents, TheFirstThreadHasEnded) {
  other_ = fork();
  if (other_ == 0) {
    const auto rest = [](void*) -> void* {
      for (;;) pause();
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, rest, nullptr) != 0) _exit(1);
    ::syscall(SYS_exit, 0);
  }
  const std::string path = fmt::format("/proc/{}/status", other_);
  for (std::string status; status.find("State:\tZ") == std::string::npos;) {
    std::ifstream file(path);
    status.assign(std::istreambuf_iterator<char>(file), {});
  }
  leave(start());
  expect(true);
}

TEST_F(LeftComponents, AnotherProcessOfTheUsersHasTheNumber) {
  begin(geteuid());
  leave(start() - 1);
  expect(false);
}

// A child of a process with components has its own in slots behind its parent's.
TEST_F(LeftComponents, AnotherProcessHasTheNumberOfAChild) {
  begin(geteuid());
  leave(start() - 1, 2);
  expect(false);
  leave(start(), 2);
  expect(true);
}

TEST_F(LeftComponents, WhichSlotItIsTheBlockDoesNotSay) {
  begin(geteuid());
  leave(start(), 2);
  const auto all = all_components();
  ASSERT_TRUE(all.ok() && all->size() == 1);
  EXPECT_EQ(all->front().folder(), file_ + ".2");
}

TEST_F(LeftComponents, TheProcessRuns) {
  begin(geteuid());
  // Those of an older librts do not say when they began.
  for (const uint32_t began : {0u, start()}) {
    leave(began);
    expect(true);
  }
}

}  // namespace
}  // namespace tracewell::hooks::test
