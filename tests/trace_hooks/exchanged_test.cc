// Logs of one user in a folder that another one may rename in: they belong to the same user, and
// may have been made by the same control file, so that only the session tells them apart.
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/files/file_lock.h"
#include "base/files/paths.h"
#include "hooks/log/log_folder.h"
#include "hooks/log/log_use.h"
#include "trace_hooks/session_world.h"

namespace tracewell::hooks::test {
namespace {

namespace fs = std::filesystem;

void exchange(const std::string& one, const std::string& other) {
  ASSERT_EQ(syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
                    RENAME_EXCHANGE),
            0);
}

/// All files of a log, rings too, by name.
std::map<std::string, std::string> files_of(const std::string& log) {
  std::map<std::string, std::string> out;
  for (const auto& one : fs::recursive_directory_iterator(log)) {
    std::string& text = out[fs::relative(one.path(), log).string()];
    if (!one.is_regular_file()) continue;
    std::ifstream in(one.path(), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  return out;
}

/// Channel 0 runs into log(), channel 1 into other().
class ExchangedLogs : public testing::Test {
 protected:
  std::string log() const { return world_.log(); }
  std::string other() const { return world_.log() + "-1"; }
  SessionOptions options_of_other(Buffering buffering) const {
    SessionOptions options = world_.options(buffering, 64 << 10);
    options.channel = 1;
    options.log = other();
    return options;
  }
  void start_other() {
    const Status status = start_session(world_.control(), options_of_other(Buffering::Circular));
    ASSERT_TRUE(status.ok()) << status.error().text();
  }
  /// Its session ended with the machine: it says that it is written to.
  void leave_old_log() {
    world_.start(world_.options(Buffering::Single, 1 << 20));
    fire("5000");
    world_.stop();
    const auto folder = open_own_log(log());
    ASSERT_TRUE(folder.ok() && claim_log(*folder, world_.control().path()).ok());
    fs::create_directory(log() + "/.rings");
    fs::rename(log(), old());
  }
  void fire(const char* hooks) const {
    EXPECT_EQ(World::wait_for(World::run("hook_hammer", {world_.counts_path(), "1", hooks, "0"})),
              0);
  }
  std::string old() const { return world_.log() + "-old"; }

  World world_;
};

TEST_F(ExchangedLogs, ProgramsMakeNoRingInAnothersLog) {
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  start_other();
  exchange(log(), other());
  fire("100");
  EXPECT_TRUE(fs::is_empty(log() + "/.rings"));
  EXPECT_TRUE(fs::is_empty(other() + "/.rings"));
  EXPECT_EQ(world_.control().failures(0), 100u);
  exchange(log(), other());
  fire("10");
  world_.stop();
  const LogStory story = read_log(log());
  EXPECT_EQ(story.hooks, 10u);
  EXPECT_EQ(std::ranges::count(story.marks,
                               "100 records lost: their threads could not make a ring"),
            1);
  EXPECT_TRUE(stop_session(world_.control(), 1).ok());
  EXPECT_EQ(read_log(other()).hooks, 0u);
}

TEST_F(ExchangedLogs, ProgramsMakeNoRingInAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  ASSERT_EQ(chown(log().c_str(), 65534, 65534), 0);
  fire("100");
  EXPECT_TRUE(fs::is_empty(log() + "/.rings"));
  EXPECT_EQ(world_.control().failures(0), 100u);
}

TEST_F(ExchangedLogs, CommandsWriteNothingToAnothersLog) {
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  start_other();
  exchange(log(), other());
  fire("100");
  const auto before = files_of(log()), before_of_other = files_of(other());
  for (const Status& status :
       {switch_tracing(world_.control(), 0, false), switch_tracing(world_.control(), 0, true),
        stop_session(world_.control(), 0), stop_session(world_.control(), 1)}) {
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("is the log of another trace now"), std::string::npos)
        << status.error().text();
  }
  EXPECT_EQ(files_of(log()), before);
  EXPECT_EQ(files_of(other()), before_of_other);
  EXPECT_TRUE(active_channels(world_.control()).empty());
}

/// What has room for less than the old one holds would drop that.
TEST_F(ExchangedLogs, OldLogStaysAsItWas) {
  leave_old_log();
  SessionOptions options = world_.options(Buffering::Circular, 64 << 10);
  options.log_bytes = 64 << 10;
  world_.start(options);
  fire("100");
  exchange(log(), old());
  const auto before = files_of(log());
  ASSERT_TRUE(std::ranges::any_of(before, [&](const auto& one) {
    return is_stream_name(one.first) && one.second.size() > options.log_bytes;
  }));
  const Status status = stop_session(world_.control(), 0);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().text().find("is the log of another trace now"), std::string::npos)
      << status.error().text();
  EXPECT_EQ(files_of(log()), before);
}

TEST_F(ExchangedLogs, CollectorThatComesLateStaysOut) {
  world_.start(world_.options(Buffering::Alternate, 64 << 10));
  start_other();
  exchange(log(), other());
  world_.control().channel(0).stopping = 1;  // or it would go on for as long as it likes
  const auto before = files_of(log());
  EXPECT_FALSE(run_collector(world_.control(), 0, [] {}).ok());
  EXPECT_EQ(files_of(log()), before);
}

/// A session without a collector, which nobody follows: what it runs into is known by its session.
TEST_F(ExchangedLogs, LogOfARunningSessionIsNotReplacedByItsNewName) {
  world_.start(world_.options(Buffering::Circular, 64 << 10));
  fs::rename(log(), other());
  for (const bool keep_old : {false, true}) {
    SessionOptions options = options_of_other(Buffering::Circular);
    options.keep_old_log = keep_old;
    const Status status = start_session(world_.control(), options);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().text().find("is the log of a trace that runs: trcstop -0 ends it"),
              std::string::npos)
        << status.error().text();
  }
  fs::rename(other(), log());
  world_.stop();
}

/// Folders that others may exchange, or what is in them.
TEST_F(ExchangedLogs, RootsLogsHaveNobodyElsesFolderOnTheWay) {
  if (geteuid() != 0) GTEST_SKIP() << "for root alone";
  const std::string above = parent_of(log()) + "/above", within = above + "/within";
  fs::create_directories(within);
  const auto makes = [&] {
    const auto made = make_log_folder(within + "/log");
    if (made.ok()) {
      fs::remove_all(within + "/log");
      return true;
    }
    EXPECT_NE(made.error().text().find("others may write to " + above + ": no place"),
              std::string::npos)
        << made.error().text();
    return false;
  };
  EXPECT_TRUE(makes());
  ASSERT_EQ(chmod(above.c_str(), 0777), 0);
  EXPECT_FALSE(makes());
  ASSERT_EQ(chmod(above.c_str(), 01777), 0);
  EXPECT_TRUE(makes());
  ASSERT_EQ(chown(above.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(makes());
  ASSERT_EQ(chmod(above.c_str(), 0755), 0);
  EXPECT_FALSE(makes());
}

}  // namespace
}  // namespace tracewell::hooks::test
