#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/beside.h"
#include "base/files/file.h"
#include "base/files/open.h"

namespace tracewell {
namespace {

using Meanwhile = OutputFile::Meanwhile;
using Existing = OutputFile::Existing;

class OutputFiles : public testing::TestWithParam<Meanwhile> {
 protected:
  OutputFiles() {
    std::string name = testing::TempDir() + "output_file.XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/out";
  }
  ~OutputFiles() override { std::filesystem::remove_all(folder_); }

  Result<OutputFile> create(Existing existing = Existing::Replace) {
    return OutputFile::create(path_, existing, GetParam());
  }
  size_t files() const {
    const auto all = std::filesystem::directory_iterator(folder_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  std::string content() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string folder_, path_;
};

/// Its group and mode.
std::pair<gid_t, mode_t> rights_once_written(Result<OutputFile>& file, const std::string& path) {
  EXPECT_TRUE(file.ok() && file->write("secret").ok() && file->commit().ok());
  const auto facts = facts_at(path);
  EXPECT_TRUE(facts);
  return facts ? std::pair(gid_t{facts->group}, mode_t{facts->mode}) : std::pair<gid_t, mode_t>();
}

/// user::rw- group::--- group:65533:r-- mask::r-- other::---, as the kernel stores it (acl(5)): to
/// stat(2) it looks like 0640. false: no ACLs here.
bool shut_out_group(const std::string& path) {
  const uint32_t acl[] = {2, 0x60001, ~0u, 0x4, ~0u, 0x40008, 65533, 0x40010, ~0u, 0x20, ~0u};
  return ::setxattr(path.c_str(), "system.posix_acl_access", acl, sizeof acl, 0) == 0;
}

TEST_P(OutputFiles, AppearWholeOrNotAtAll) {
  {
    auto file = create();
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_TRUE(file->write(std::string_view("lost")).ok());
  }
  EXPECT_EQ(files(), 0u);
  const mode_t mask = umask(027);
  for (const std::string text : {"first", "second"}) {
    auto file = create();
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(std::string_view(text)).ok());
    ASSERT_TRUE(file->commit().ok());
    EXPECT_EQ(content(), text);
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
  }
  umask(mask);
}

/// What stands at the name may have been moved there by others, out of a folder of theirs.
TEST_P(OutputFiles, AreNoMoreOpenThanNewOnesWhereOthersPutFiles) {
  const mode_t before = ::umask(077);
  for (const mode_t mode : {0755, 0777, 01777}) {
    ASSERT_EQ(::chmod(folder_.c_str(), mode), 0);
    std::ofstream(path_) << "before";
    ASSERT_EQ(::chmod(path_.c_str(), 0604), 0);
    auto file = create();
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->write("secret").ok());
    EXPECT_TRUE(file->commit().ok());
    struct stat status = {};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode == 0755 ? 0604u : 0600u) << mode;
  }
  ::umask(before);
}

/// Those who could not read what was there, by its group or its ACL, do not read what replaces it.
TEST_P(OutputFiles, AreOfTheGroupOfWhatTheyReplace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give any group";
  std::ofstream(path_) << "before";
  ASSERT_EQ(::chown(path_.c_str(), 0, 65533), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const auto rights = [&] {
    auto file = create();
    return rights_once_written(file, path_);
  };
  EXPECT_EQ(rights(), std::pair(gid_t{65533}, mode_t{0640}));
  if (!shut_out_group(path_)) GTEST_SKIP() << "no ACLs here";
  EXPECT_EQ(rights().second, mode_t{0600});
  EXPECT_LT(::getxattr(path_.c_str(), "system.posix_acl_access", nullptr, 0), 1);
}

/// Others may have chosen that group. The file is their own, or one that they moved there.
TEST_P(OutputFiles, AreOfNoGroupThatOthersMayHaveChosen) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give any group";
  const mode_t before = ::umask(027);
  for (const mode_t mode : {0755, 01777})
    for (const uid_t owner : {uid_t{0}, uid_t{65533}})
      for (const gid_t group : {getegid(), gid_t{65533}}) {
        ASSERT_EQ(::chmod(folder_.c_str(), mode), 0);
        std::ofstream(path_) << "before";
        ASSERT_EQ(::chown(path_.c_str(), owner, group), 0);
        ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
        auto file = create();
        const auto rights = rights_once_written(file, path_);
        const bool may_be = (mode == 0755 && owner == 0) || group == getegid();
        EXPECT_EQ(rights, (may_be ? std::pair{group, mode_t{0640}}
                                  : std::pair{getegid(), mode_t{0600}}))
            << mode << " " << owner << " " << group;
      }
  ::umask(before);
}

/// So with what is kept beside a file.
TEST_P(OutputFiles, AreOfTheGroupOfWhatTheyAreKeptBeside) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give any group";
  const std::string beside = path_ + ".tidx";
  std::ofstream(path_) << "trace";
  ASSERT_EQ(::chown(path_.c_str(), 65532, 65533), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const auto rights = [&] {
    const auto trace = InputFile::open(path_);
    EXPECT_TRUE(trace.ok());
    auto file = OutputFile::create_beside(beside, {path_, (*trace)->facts()});
    return rights_once_written(file, beside);
  };
  EXPECT_EQ(rights(), std::pair(gid_t{65533}, mode_t{0640}));
  EXPECT_EQ(facts_at(beside)->owner, 65532u);
  if (!shut_out_group(path_)) GTEST_SKIP() << "no ACLs here";
  EXPECT_EQ(rights().second, mode_t{0600});
}

/// Whoever names a link means what it leads to.
TEST_P(OutputFiles, FollowOwnLinks) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "kept";
  std::filesystem::create_symlink("target", path_);
  auto file = create();
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(std::string_view("new")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content(), "new");
  std::ifstream in(target);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(files(), 2u);
}

/// As /dev/stdout is, when a shell has sent it to a file.
TEST_P(OutputFiles, WriteToWhatIsOpenAlready) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "before ";
  const int open_file = open(target.c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(open_file, 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(open_file), path_);
  auto file = create();
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_FALSE(file->can_rewrite());
  ASSERT_TRUE(file->write(std::string_view("and after")).ok());
  ASSERT_TRUE(file->commit().ok());
  close(open_file);
  EXPECT_EQ(content(), "");  // its name is gone with the descriptor
  std::ifstream in(target);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "before and after");
  EXPECT_EQ(files(), 2u);
}

TEST_P(OutputFiles, ReplaceNothingUnlessTheyMay) {
  auto first = create(Existing::Keep), second = create(Existing::Keep);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->write(std::string_view("first")).ok());
  ASSERT_TRUE(first->commit().ok());
  const Status status = second->commit();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::InvalidArgument);
  EXPECT_EQ(content(), "first");
}

TEST_P(OutputFiles, LeaveNothingBehindASignal) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto file = create();
      if (!file || !file->write(std::string(1 << 20, 'x')).ok()) _exit(1);
      raise(number);
      _exit(2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_P(OutputFiles, HoweverManyAtATimeLeaveNothingBehindASignal) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::vector<Result<OutputFile>> all;
    for (int i = 0; i < 40; ++i) {
      all.push_back(OutputFile::create(path_ + std::to_string(i), Existing::Replace, GetParam()));
      if (!all.back()) _exit(1);
      if (i % 3 == 0 && !all[static_cast<size_t>(i)]->commit().ok()) _exit(1);
    }
    raise(SIGTERM);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(files(), 14u);
}

// Who has something else to do on a signal, does that.
TEST_P(OutputFiles, LeaveSignalsToOthers) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGTERM, [](int) { _exit(7); });
    std::signal(SIGHUP, SIG_IGN);
    auto file = create();
    raise(SIGHUP);
    raise(SIGTERM);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

INSTANTIATE_TEST_SUITE_P(Meanwhile, OutputFiles,
                         testing::Values(Meanwhile::Nameless, Meanwhile::Named));

}  // namespace
}  // namespace tracewell
