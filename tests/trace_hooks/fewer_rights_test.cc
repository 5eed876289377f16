// Processes that gave up their rights, and have mapped what programs and commands share: what they
// can do with it to those that have them.
#include <functional>

#include <fmt/format.h>

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
  World world;
  world.start(world.options(Buffering::Single, 1 << 20));
  EXPECT_EQ(World::wait_for(World::run("forged_ring", {"shape", "5000"})), 0);
  world.stop();
  const LogStory story = read_log(world.log());
  EXPECT_EQ(story.hooks, 5000u);
  EXPECT_EQ(story.lost, 0u);
  EXPECT_EQ(story.problems, std::vector<std::string>{});
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

}  // namespace
}  // namespace tracewell::hooks::test
