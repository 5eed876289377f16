// The blocks of a program's components are memory that each process has which it forked, also one
// that gave up its rights since. Which components there are, and whose, such a process does not
// decide.
#include <signal.h>

#include <algorithm>
#include <set>

#include "hooks/components/components.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

class ForgedBlocks : public testing::Test {
 protected:
  ForgedBlocks() {
    const std::string rules = world_.log() + ".rules";
    std::ofstream(rules) << "c part memory=1 memory_level=9\nc heir memory=1 memory_level=9\n";
    setenv("TRACEWELL_COMPONENTS", rules.c_str(), 1);
  }
  ~ForgedBlocks() override {
    unsetenv("TRACEWELL_COMPONENTS");
    if (program_ < 0) return;
    kill(program_, SIGKILL);
    World::wait_for(program_);
  }

  /// It lives, and stands still.
  void run(const std::vector<std::string>& words) {
    program_ = World::run("component_hostile", words);
    wait_until_it_stops();
  }
  void wait_until_it_stops() {
    int status = 0;
    ASSERT_EQ(waitpid(program_, &status, WUNTRACED), program_);
    if (!WIFSTOPPED(status)) program_ = -1;
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
  }
  void go_on() const { kill(program_, SIGCONT); }
  void end() {
    go_on();
    EXPECT_EQ(World::wait_for(program_), 0);
    program_ = -1;
  }

  /// All but those that are there by themselves.
  std::vector<Component> look() {
    changed_.clear();
    auto all = all_components(&changed_);
    EXPECT_TRUE(all.ok());
    std::erase_if(*all, [](const Component& one) {
      return one.name() == "common" || one.name() == "rare";
    });
    return *std::move(all);
  }
  Names names() {
    Names out;
    for (const Component& one : look()) out.push_back(one.name());
    return out;
  }
  /// Is it told that the program's blocks were changed, and nobody else's?
  bool is_told() const { return changed_ == std::set{static_cast<uint32_t>(program_)}; }

  /// What is in the buffers of `part`, which its program has registered, and others have not.
  LogStory dump() {
    const std::string to = world_.log() + ".dumps";
    const auto done = dump_components(look(), to, "test");
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text());
    EXPECT_TRUE(done.ok() && done->size() == 1);
    return fs::exists(to + "/part") ? read_log(to + "/part") : LogStory{};
  }

  World world_;
  pid_t program_ = -1;
  std::set<uint32_t> changed_;
};

TEST_F(ForgedBlocks, AreAsRegistered) {
  run({"worker", "nothing"});
  EXPECT_EQ(names(), Names{"part"});
  EXPECT_TRUE(changed_.empty());
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayAnotherSession) {
  run({"worker", "uuid"});
  const LogStory story = dump();
  EXPECT_EQ(story.hooks, 2u);
  EXPECT_TRUE(std::ranges::none_of(story.marks, [](const std::string& mark) {
    return mark.find(" records lost: ") != std::string::npos;
  }));
  EXPECT_TRUE(is_told());
}

TEST_F(ForgedBlocks, SayThatThereIsNone) {
  run({"worker", "used"});
  EXPECT_EQ(names(), Names{"part"});
  EXPECT_TRUE(is_told());
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayThatThereAreMore) {
  run({"worker", "more"});
  EXPECT_EQ(names(), Names{"part"});
  EXPECT_TRUE(is_told());
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayAnotherName) {
  run({"worker", "name"});
  EXPECT_EQ(names(), Names{"part"});
  EXPECT_TRUE(is_told());
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayThatTheirProcessIsAnotherOne) {
  run({"worker", "start"});
  const auto all = look();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].process_lives());
  EXPECT_TRUE(is_told());
  const auto dead = forget_dead_components();
  ASSERT_TRUE(dead.ok());
  EXPECT_EQ(*dead, 0u);
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayThatThereAreNoBuffers) {
  run({"worker", "memory"});
  auto all = look();
  ASSERT_EQ(all.size(), 1u);
  ComponentChange change;
  change.memory = ComponentChange::Memory::On;
  ASSERT_TRUE(all[0].change(change).ok());
  EXPECT_EQ(dump().hooks, 2u);
}

TEST_F(ForgedBlocks, SayThatThereAreNoBuffersWhenTheProgramEnds) {
  run({"worker", "memory"});
  end();
  EXPECT_EQ(names(), Names{"part"});
  EXPECT_EQ(dump().hooks, 2u);
}

// Programs of releases before have nothing but their blocks: those are read.
TEST_F(ForgedBlocks, AreAllThereIs) {
  run({"worker", "name"});
  for (const auto& one : fs::directory_iterator(fs::path(world_.control().path()).parent_path() /
                                                TRACEWELL_COMPONENTS_NAME))
    if (one.path().native().ends_with(TRACEWELL_REGISTERED_SUFFIX)) fs::remove(one);
  EXPECT_EQ(names(), Names{".hidden"});
  EXPECT_TRUE(changed_.empty());
  EXPECT_FALSE(is_component_name(".hidden"));
  const std::string to = world_.log() + ".dumps";
  const auto done = dump_components(look(), to, "test");
  EXPECT_TRUE(done.ok() && done->empty());
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(ForgedBlocks, ChangeAsTheirProgramDoes) {
  run({"given_back"});
  EXPECT_EQ(names(), Names{"stays"});
  EXPECT_TRUE(changed_.empty());
  go_on();
  wait_until_it_stops();
  EXPECT_EQ(names(), (Names{"heir", "stays"}));
  EXPECT_TRUE(changed_.empty());
  // The one that was there before has left its buffer there.
  const std::string to = world_.log() + ".dumps";
  ASSERT_TRUE(dump_components(look(), to, "test").ok());
  const LogStory story = read_log(to + "/heir");
  EXPECT_EQ(story.hooks, 1u);
  EXPECT_EQ(std::ranges::count_if(story.marks, [](const std::string& mark) {
              return mark.ends_with("is not of this component");
            }), 1);
}

/// Whenever it is looked at: what is on its way is no change by somebody else.
TEST_F(ForgedBlocks, ChangeOftenAsTheirProgramDoes) {
  const pid_t child = World::run("component_hostile", {"often"});
  int status = 0;
  uint64_t looks = 0;
  for (; waitpid(child, &status, WNOHANG) == 0; ++looks) {
    for (const Component& one : look()) EXPECT_EQ(one.name(), "part");
    ASSERT_TRUE(changed_.empty());
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(looks, 0u);
}

TEST_F(ForgedBlocks, OutliveTheRightsOfTheirProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  run({"dropped_since"});
  EXPECT_EQ(names(), Names{"second"});
  EXPECT_TRUE(is_told());
}

}  // namespace
}  // namespace tracewell::hooks::test
