// Components from inside of the programs that register them: whatever such a program does with
// descriptors, threads, users and forks, and whatever stands in memory that it shares.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

class ComponentInside : public testing::Test {
 protected:
  ComponentInside() : folder_(world_.log() + ".files") { fs::create_directories(folder_); }
  ~ComponentInside() override { unsetenv("TRACEWELL_COMPONENTS"); }

  /// Its exit status, after `prepare` in its process; what hangs is killed.
  static int hostile(const std::vector<std::string>& words,
                     const std::function<void()>& prepare = [] {}) {
    std::vector<std::string> all = {TRACEWELL_INFERIORS_DIR "/component_hostile"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      prepare();
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    return ended(child);
  }

  static int ended(pid_t child) {
    int status = 0;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
      if (i == 20000) kill(child, SIGKILL);
      usleep(1000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// The file of rules that is named.
  std::string rules(const std::string& text) const {
    std::string path = folder_ + "/rules";
    setenv("TRACEWELL_COMPONENTS", path.c_str(), 1);
    if (!text.empty()) std::ofstream(path) << text;
    return path;
  }

  /// Of a component, as the rules have it.
  std::string level() const {
    std::string out;
    World::shell("timeout -s KILL 20 " TRACEWELL_INFERIORS_DIR "/component_hostile level", out);
    return out;
  }

  World world_;
  std::string folder_;
};

TEST_F(ComponentInside, ProgramClosesAllDescriptors) {
  EXPECT_EQ(hostile({"closed", folder_}), 0);
}

TEST_F(ComponentInside, ProgramIsStartedWithoutStandardDescriptors) {
  const auto prepare = [] {
    dup2(STDERR_FILENO, 9);
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) close(fd);
  };
  rules("c * memory=1\n");
  EXPECT_EQ(hostile({"without"}, prepare), 0);
}

TEST_F(ComponentInside, FolderIsRemovedMeanwhile) { EXPECT_EQ(hostile({"removed"}), 0); }

TEST_F(ComponentInside, ThreadIsCancelledMeanwhile) {
  world_.start(world_.options(Buffering::Single, 64 << 10));
  rules("c * memory=1\n");
  EXPECT_EQ(hostile({"cancel"}), 0);
  world_.stop();
}

TEST_F(ComponentInside, ThreadIsCancelledWhileACommandRuns) {
  EXPECT_EQ(hostile({"trcon"}, [] { setenv("TRACEWELL", "/bin/true", 1); }), 0);
}

TEST_F(ComponentInside, SomebodyElseWritesToTheBlock) {
  rules("c * memory=1 memory_level=9\n");
  fs::create_directory(folder_ + "/.rings");
  EXPECT_EQ(hostile({"forged", folder_}), 0);
  EXPECT_EQ(hostile({"slot"}), 0);
}

TEST_F(ComponentInside, RulesAreAFileOfTheUsers) {
  const std::string path = rules("# c\nc * memory_level=5\nc other memory_level=6");
  EXPECT_EQ(level(), "5\n");
  // By a link of the user's; what is relative, from the working folder.
  fs::rename(path, path + ".there");
  fs::create_symlink("rules.there", path);
  EXPECT_EQ(level(), "5\n");
  setenv("TRACEWELL_COMPONENTS", fs::relative(path).c_str(), 1);
  EXPECT_EQ(level(), "5\n");
  // Lines end where they end, also beyond what is read at once; the last one has no end.
  std::string text;
  while (text.size() < 10000) text += "c other memory_level=7\n";
  rules(text + "c part memory_level=8");
  EXPECT_EQ(level(), "8\n");
}

TEST_F(ComponentInside, RulesThatAreNoFile) {
  const std::string path = rules("");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(level(), "3\n");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(level(), "3\n");
}

TEST_F(ComponentInside, RulesOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::string path = rules("c * memory_level=5\n");
  EXPECT_EQ(level(), "5\n");
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(level(), "3\n");
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  // Nor by a link of somebody else's.
  const std::string link = path + ".link";
  fs::create_symlink(path, link);
  setenv("TRACEWELL_COMPONENTS", link.c_str(), 1);
  EXPECT_EQ(level(), "5\n");
  ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0);
  EXPECT_EQ(level(), "3\n");
}

TEST_F(ComponentInside, ProgramActsAsAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  // That user could make everything here.
  const std::string run = getenv("XDG_RUNTIME_DIR");
  fs::permissions(run, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  const std::string theirs = run + "/theirs";
  fs::create_directory(theirs);
  ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
  EXPECT_EQ(hostile({"another_user", theirs}), 0);
  EXPECT_FALSE(fs::exists(theirs + "/tracewell"));
}

TEST_F(ComponentInside, ProgramHasBecomeAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const fs::path run = getenv("XDG_RUNTIME_DIR");
  fs::permissions(run, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(folder_, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  const std::string theirs = run / "theirs";
  fs::create_directory(theirs);
  ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
  rules("c * memory=1 memory_level=9\n");
  EXPECT_EQ(hostile({"dropped", theirs}), 0);
}

TEST_F(ComponentInside, DescendantHasTheNumberOfAnAncestor) {
  const int result = ended(World::run("component_reused", {"20"}));
  if (result == 77) GTEST_SKIP() << "this user may not choose numbers of processes";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace tracewell::hooks::test
