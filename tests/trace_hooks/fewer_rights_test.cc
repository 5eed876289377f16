// Processes that gave up their rights, and have mapped what programs and commands share: what they
// can do with it to those that have them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "hooks/session/losses.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

/// Of the process, which stops itself: `between` is done meanwhile.
int run_and_stop(const std::string& inferior, const std::vector<std::string>& words,
                 const std::function<void()>& between) {
  const pid_t child = World::run(inferior, words);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  between();
  if (!WIFSTOPPED(status)) return status;
  kill(child, SIGCONT);
  return World::wait_for(child);
}

TEST(FewerRights, ForkedProcessSaysNotWhereItsParentWrites) {
  for (const char* inferior : {"forged_ring", "forged_ring_32"}) {
    World world;
    world.start(world.options(Buffering::Single, 1 << 20));
    EXPECT_EQ(World::wait_for(World::run(inferior, {"shape", "5000"})), 0);
    world.stop();
    const LogStory story = read_log(world.log());
    EXPECT_EQ(story.hooks, 5000u);
    EXPECT_EQ(story.lost, 0u);
    EXPECT_EQ(story.problems, std::vector<std::string>{});
  }
}

TEST(FewerRights, ForkedProcessSaysNotWhatItsParentUnmaps) {
  for (const Buffering buffering : {Buffering::Circular, Buffering::Alternate, Buffering::Single}) {
    World world;
    SessionOptions options = world.options(buffering, 64 << 10);
    world.start(options);
    const auto begin_another = [&] {
      static_cast<void>(stop_session(world.control(), 0));
      std::filesystem::remove_all(world.log());
      world.start(options);
    };
    EXPECT_EQ(run_and_stop("forged_ring", {"all", "20000"}, begin_another), 0);
    world.stop();
    EXPECT_EQ(read_log(world.log()).hooks, 1u);
  }
}

TEST(FewerRights, WhatIsReadCannotBeMadeWritable) {
  World world;
  world.start(world.options(Buffering::Single, 64 << 10));
  const uint32_t before = world.control().state(0);
  for (const char* inferior : {"fewer_rights", "fewer_rights_32"})
    for (const char* how : {"protect", "remap"})
      EXPECT_EQ(World::wait_for(World::run(inferior, {how})), 0);
  EXPECT_EQ(world.control().state(0), before);
  world.stop();
}

/// That user could look at what it records later, as root, and change it.
TEST(FewerRights, NothingIsFoundForAUserWhomRootActsFor) {
  if (geteuid() != 0) GTEST_SKIP() << "only root acts for others";
  const std::filesystem::path inferiors = TRACEWELL_INFERIORS_DIR;
  const std::string library = inferiors.parent_path() / "lib/librts.so";
  ASSERT_TRUE(std::filesystem::exists(library)) << library;
  const char* const place = std::getenv("XDG_RUNTIME_DIR");
  const std::string before = place == nullptr ? "" : place;
  unsetenv("XDG_RUNTIME_DIR");
  const int status = World::wait_for(World::run("acts_for_user", {library}));
  if (place != nullptr) setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "others may not read " << library;
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists("/tmp/tracewell-61234"));
}

class CountsOfLosses : public testing::Test {
 protected:
  static constexpr const char* kTen = "10 records lost: their threads could not make a ring";

  void start() { world_.start(world_.options(Buffering::Single, 64 << 10)); }
  static void run(const char* inferior, const char* what) {
    EXPECT_EQ(World::wait_for(World::run(inferior, {what})), 0);
  }
  /// How often each was told, by the time that the session is over.
  std::pair<long, long> told() {
    world_.stop();
    const LogStory story = read_log(world_.log());
    return {std::ranges::count(story.marks, kTen),
            std::ranges::count(story.marks, std::string("0 records lost: ") + kCountsChanged)};
  }
  std::string folder() {
    return std::filesystem::path(world_.control().path()).parent_path() / TRACEWELL_LOSSES_NAME;
  }
  size_t files() {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder()), {}));
  }

  World world_;
};

TEST_F(CountsOfLosses, AreToldWhoeverClearsThem) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
  const std::pair<const char*, const char*> programs[] = {
      {"hook_lives", "vfork-first"}, {"fewer_rights", "lose"},    {"fewer_rights", "lose-early"},
      {"fewer_rights_32", "lose"},   {"fewer_rights_32", "lose-early"}};
  for (const auto& [inferior, what] : programs) {
    std::filesystem::remove_all(world_.log());
    start();
    run(inferior, what);
    EXPECT_EQ(world_.control().failures(0), 10u);
    run("fewer_rights", "forge");
    EXPECT_EQ(world_.control().failures(0), 0u);
    EXPECT_EQ(told(), std::pair(1L, 1L)) << inferior << " " << what;
    EXPECT_EQ(files(), 0u);
  }
}

/// A worker that the program forked has no part in the page of its own.
TEST_F(CountsOfLosses, AreNotThoseOfWhatWasForked) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
  for (const char* inferior : {"fewer_rights", "fewer_rights_32"}) {
    std::filesystem::remove_all(world_.log());
    start();
    run(inferior, "lose-worker");
    EXPECT_EQ(told(), std::pair(1L, 1L)) << inferior;
  }
}

/// Nothing of a session before is told, of programs that live on neither.
TEST_F(CountsOfLosses, AreOfTheirSession) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
  start();
  run("fewer_rights", "lose");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(told(), std::pair(1L, 0L));
  std::filesystem::remove_all(world_.log());
  start();
  EXPECT_EQ(told(), std::pair(0L, 0L));
}

/// Of one that lives. It may have found a control file that was removed since: sessions of the one
/// that came after it have the same numbers.
TEST_F(CountsOfLosses, AreOfTheirControlFile) {
  start();
  tracewell_losses losses = {};
  losses.magic = TRACEWELL_LOSSES_MAGIC;
  losses.pid = static_cast<uint32_t>(getpid());
  losses.lost[0] = uint64_t{world_.control().channel(0).session} << 40 | 10;
  std::filesystem::create_directory(folder());
  for (const uint64_t other : {1, 0}) {
    losses.control = world_.control().inode() + other;
    std::string page(TRACEWELL_HOOK_PAGE, '\0');
    std::memcpy(page.data(), &losses, sizeof losses);
    std::ofstream(folder() + "/1-1", std::ios::binary) << page;
    std::filesystem::permissions(folder() + "/1-1", std::filesystem::perms(0600));
    world_.control().set_failures(0, 0);
    const Losses found = losses_of(world_.control(), 0);
    EXPECT_EQ(found.records, other == 0 ? 10u : 0u);
    EXPECT_EQ(found.changed, other == 0);
  }
  EXPECT_EQ(told(), std::pair(1L, 1L));
  EXPECT_EQ(files(), 1u);
}

/// Programs of releases before count in one place only: what was seen there is kept.
TEST_F(CountsOfLosses, ThatWereSeenAreKept) {
  start();
  world_.control().set_failures(0, 10);
  watch_losses(world_.control(), 0);
  world_.control().set_failures(0, 3);
  EXPECT_EQ(told(), std::pair(1L, 1L));
}

TEST_F(CountsOfLosses, OfAReleaseBeforeAreTold) {
  start();
  world_.control().watch(0) = {};  // it did not know of that
  world_.control().set_failures(0, 10);
  EXPECT_EQ(told(), std::pair(1L, 0L));
}

TEST(FewerRights, WhyACollectorEndedIsNotForged) {
  World world;
  world.start(world.options(Buffering::Alternate, 64 << 10));
  World::wait_for([&] {
    const pid_t collector = world.start_collector();
    kill(collector, SIGKILL);
    return collector;
  }());
  EXPECT_EQ(World::wait_for(World::run("fewer_rights", {"forge"})), 0);
  const auto trouble = collector_trouble(world.control(), 0);
  ASSERT_TRUE(trouble);
  EXPECT_NE(trouble->find("was killed"), std::string::npos) << *trouble;
  world.stop();
  EXPECT_EQ(World::wait_for(World::run("fewer_rights", {"forge"})), 0);
  EXPECT_EQ(switch_tracing(world.control(), 0, true).error().text(),
            "no trace runs on channel 0");
}

}  // namespace
}  // namespace tracewell::hooks::test
